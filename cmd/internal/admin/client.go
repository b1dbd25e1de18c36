package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
)

// Client talks to a running gslbd over its socket. It is safe for concurrent use.
type Client struct {
	socket string
	http   *http.Client
}

// NewClient makes a client for the socket at path; it connects at each call.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", path)
	}
	return &Client{
		socket: path,
		http:   &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
	}
}

// Status fetches the groups that name selects; "" selects all.
func (c *Client) Status(ctx context.Context, name string) (Status, error) {
	v := url.Values{}
	if name != "" {
		v.Set("name", name)
	}
	var status Status
	err := c.call(ctx, http.MethodGet, "/api/v1/status", v, &status)
	return status, err
}

// Explain asks the running server; see ExplainQuery.
func (c *Client) Explain(ctx context.Context, q ExplainQuery) (Explanation, error) {
	var e Explanation
	err := c.call(ctx, http.MethodGet, "/api/v1/explain", q.values(), &e)
	return e, err
}

// Reload makes the server read everything again. A refused reload is no error
// here: the reply says so and holds every problem.
func (c *Client) Reload(ctx context.Context, acceptUnsteered bool) (ReloadReply, error) {
	var reply ReloadReply
	v := url.Values{}
	if acceptUnsteered {
		v.Set("accept_unsteered", strconv.FormatBool(true))
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/reload", v, &reply)
	return reply, err
}

// Ready asks /readyz. A server that is not ready is no error here.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var r Readiness
	err := c.call(ctx, http.MethodGet, "/readyz", nil, &r)
	return r, err
}

// call makes one exchange and decodes its document into out.
func (c *Client) call(ctx context.Context, method, path string, v url.Values, out any) error {
	req, err := c.request(ctx, method, path, v)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	body, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if err != nil {
		return fmt.Errorf("reading the answer from %s: %w", c.socket, err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusUnprocessableEntity, http.StatusServiceUnavailable:
	default:
		return c.refusal(resp.StatusCode, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return c.foreign(err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, v url.Values) (*http.Request, error) {
	u := url.URL{Scheme: "http", Host: "gslbd", Path: path, RawQuery: v.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", c.socket, err)
	}
	return req, nil
}

// refusal reads the document of an error.
func (c *Client) refusal(status int, body []byte) error {
	e := &Error{Status: status}
	if err := json.Unmarshal(body, e); err != nil {
		return c.foreign(err)
	}
	return e
}

// foreign tells of an answer that this interface does not give.
func (c *Client) foreign(err error) error {
	return fmt.Errorf("the answer from %s is not gslbd's: %w", c.socket, err)
}

// unreachable says which socket was tried and what to do.
func (c *Client) unreachable(err error) error {
	e := &Error{Message: fmt.Sprintf("no gslbd answers on %s: %v", c.socket, cause(err))}
	switch {
	case errors.Is(err, syscall.EACCES):
		e.Hint = "run the command as a user or group that may open the socket"
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = "start it with gslbd serve, or name the socket of the running one with --socket or --config"
	}
	return e
}
