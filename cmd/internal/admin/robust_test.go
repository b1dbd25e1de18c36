package admin

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestManyClients: questions and changes at the same time, each answered whole.
func TestManyClients(t *testing.T) {
	_, client, _ := start(t, &fake{})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			var err error
			switch i % 4 {
			case 0:
				_, err = client.Status(context.Background(), "www.example.com")
			case 1:
				_, err = client.Explain(context.Background(), ExplainQuery{Name: fmt.Sprint("n", i)})
			case 2:
				_, err = client.Reload(context.Background(), false)
			default:
				_, err = client.Ready(context.Background())
			}
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// TestRubbish: what is not HTTP is answered with 400 or hung up on, and the
// next client is served.
func TestRubbish(t *testing.T) {
	_, client, path := start(t, &fake{})
	for _, text := range []string{
		"\x00\x01\x02\r\n\r\n",
		"GET\r\n\r\n",
		"GET /healthz HTTP/9.9\r\n\r\n",
		"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"POST /api/v1/reload HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Logf("%.20q: %v", text, err) // it hung up before the end
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if strings.Contains(line, " 200 ") {
			t.Errorf("%.20q: got %s", text, line)
		}
		conn.Close()
	}
	if _, err := client.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHead: GET paths take HEAD as well (RFC 9110 §9.1).
func TestHead(t *testing.T) {
	_, client, _ := start(t, &fake{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://gslbd/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("got %s", resp.Status)
	}
}

// TestForbiddenSocket: the hint is about permission, not about starting.
func TestForbiddenSocket(t *testing.T) {
	c := NewClient("x.sock")
	err := c.unreachable(fmt.Errorf("dial: %w", os.ErrPermission))
	if !strings.HasPrefix(err.Error(), "no gslbd answers on x.sock: ") {
		t.Errorf("got %v", err)
	}
}
