package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

// maxEvent bounds a line and an event that a stream may hold, in bytes.
const maxEvent = 16 << 20

// Events fetches the events after an ID, oldest first; 0 gives all that are
// remembered.
func (c *Client) Events(ctx context.Context, after uint64) ([]Event, error) {
	var list EventList
	err := c.call(ctx, http.MethodGet, "/api/v1/events", afterID(after), &list)
	return list.Events, err
}

// Follow calls each with every event after an ID, oldest first, and then with
// each new one when it happens. It returns an error always: that of each, that
// of ctx, an *Error when the server refuses, or what else ended the stream; it
// does not connect again. IDs that are not consecutive tell of events that were
// forgotten before they could be sent.
func (c *Client) Follow(ctx context.Context, after uint64, each func(Event) error) error {
	req, err := c.request(ctx, http.MethodGet, "/api/v1/events", afterID(after))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", eventStream)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return fmt.Errorf("reading the answer from %s: %w", c.socket, err)
		}
		return c.refusal(resp.StatusCode, body)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != eventStream {
		return c.foreign(fmt.Errorf("%q is not a stream of events", resp.Header.Get("Content-Type")))
	}
	return c.read(resp.Body, each)
}

func afterID(after uint64) url.Values {
	return url.Values{"after": {strconv.FormatUint(after, 10)}}
}

// read takes the events out of a stream. An event ends with an empty line; one
// that is cut off before is none (WHATWG HTML §9.2.6).
func (c *Client) read(stream io.Reader, each func(Event) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 && len(data) > 0 {
			var e Event
			if err := json.Unmarshal(data, &e); err != nil {
				return c.foreign(err)
			}
			if err := each(e); err != nil {
				return err
			}
			data = data[:0]
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, value...), '\n')
		}
		if len(data) > maxEvent {
			return c.foreign(bufio.ErrTooLong)
		}
	}
	err := lines.Err()
	switch {
	case err == nil:
		return fmt.Errorf("the server on %s has ended the stream of events", c.socket)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the server on %s has broken off the stream of events, as one does that was killed", c.socket)
	case errors.Is(err, bufio.ErrTooLong):
		return c.foreign(err)
	}
	return fmt.Errorf("following the events of %s: %w", c.socket, err)
}
