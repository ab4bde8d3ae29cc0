package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// raw sends bytes to the gateway and returns the statuses of the responses on the connection.
func raw(t *testing.T, url, text string) (statuses []int, all string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * time.Second))
	go io.WriteString(conn, text)
	var seen strings.Builder
	in := bufio.NewReader(io.TeeReader(conn, &seen))
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses, seen.String()
		}
		statuses = append(statuses, res.StatusCode)
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.Close {
			return statuses, seen.String()
		}
		if len(statuses) == strings.Count(text, "HTTP/1.") {
			return statuses, seen.String()
		}
	}
}

// Proves F17, F18, W52: requests whose end or target is ambiguous are refused, or read in one way
// only; at most one request reaches the provider for each response, and it is the one that was
// judged.
func TestSmuggling(t *testing.T) {
	const body = `{"model":"m","messages":[]}`
	const chosen = `{"model":"http://evil.example/m","api_base":"http://evil.example","messages":[]}`
	post := func(header, body string) string {
		return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n" + body
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	hidden := "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for _, test := range []struct {
		name, text string
		statuses   string // "" if any refusal will do
		reaches    int    // the provider
	}{
		{"plain", post(length, body), "[200]", 1},
		{"chunked", post("Transfer-Encoding: chunked\r\n", chunked), "[200]", 1},
		{"chunked with an extension", post("Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x;a=\"b\"\r\n%s\r\n0\r\n\r\n", len(body), body)), "[200]", 1},
		{"length and chunked", post(length+"Transfer-Encoding: chunked\r\n", chunked), "[200]", 1},
		{"length of the hidden request and chunked", post(fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", len(chunked)+len(hidden)), chunked+hidden), "", 1},
		{"two lengths", post(length+"Content-Length: 3\r\n", body), "[400]", 0},
		{"a list of lengths", post("Content-Length: 27, 27\r\n", body), "", 0},
		{"a signed length", post("Content-Length: +27\r\n", body), "[400]", 0},
		{"an unknown transfer coding", post("Transfer-Encoding: xchunked\r\n", chunked), "[501]", 0},
		{"two transfer codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked), "[501]", 0},
		{"chunked in disguise", post("Transfer-Encoding:\x0bchunked\r\n", chunked), "", 0},
		{"space before the colon", post("Content-Length : 27\r\n", body), "[400]", 0},
		{"a folded header", post(length+"X-A: b\r\n c\r\n", body), "", 1},
		{"a bare LF chunk", post("Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\n%s\r\n0\r\n\r\n", len(body), body)), "", 0},
		{"a negative chunk", post("Transfer-Encoding: chunked\r\n", "-1\r\n"+body+"\r\n0\r\n\r\n"), "[400]", 0},
		{"an absolute target elsewhere", strings.Replace(post(length, body), "POST /v1", "POST http://evil.example/v1", 1), "[403]", 0},
		{"an absolute target with our host behind", strings.Replace(post(length, body), "POST /v1", "POST http://evil.example:80@localhost/v1", 1), "", 1},
		{"two hosts", post("Host: evil.example\r\n"+length, body), "[400]", 0},
		{"no host", strings.Replace(post(length, body), "Host: localhost\r\n", "", 1), "[400]", 0},
		{"h2c upgrade", post("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"+length, body), "[200]", 1},
		{"h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", 0},
		{"websocket", "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n", "[404]", 0},
		{"expect something", post("Expect: magic\r\n"+length, body), "", 1},
		{"upstream in a header", post("X-Upstream: http://evil.example\r\nX-Forwarded-Host: evil.example\r\n"+length, body), "[200]", 1},
		{"upstream in the body", post(fmt.Sprintf("Content-Length: %d\r\n", len(chosen)), chosen), "[200]", 1},
		{"a request behind the body", post(length, body) + hidden, "[200 404]", 1},
		{"a header that is too large", post("X-A: "+strings.Repeat("x", 2<<20)+"\r\n"+length, body), "[431]", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reached atomic.Int64
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				reached.Add(1)
				if r.URL.Path != chatPath || string(text) != body && string(text) != chosen || r.ContentLength != int64(len(text)) || len(r.TransferEncoding) != 0 {
					t.Errorf("the provider received %s %s, %d bytes: %s", r.Method, r.URL, r.ContentLength, text)
				}
				if r.Header.Get("Upgrade") != "" || r.Header.Get("Connection") != "" || r.Header.Get("X-Forwarded-Host") != "" {
					t.Errorf("hop-by-hop headers reached the provider: %v", r.Header)
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, chatWhole("stop"))
			}), nil)
			statuses, all := raw(t, r.url, test.text)
			if test.statuses != "" && fmt.Sprint(statuses) != test.statuses {
				t.Errorf("statuses %v, want %s:\n%s", statuses, test.statuses, all)
			}
			if strings.Contains(all, "101 ") || len(statuses) > max(1, strings.Count(test.text, "HTTP/1.")) {
				t.Errorf("answers %v:\n%s", statuses, all)
			}
			if got := int(reached.Load()); got > test.reaches {
				t.Errorf("%d requests reached the provider, at most %d may", got, test.reaches)
			}
		})
	}
}

// A request that never ends does not keep its connection.
func TestSlowRequests(t *testing.T) {
	r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) {
		o.Settings.Timeouts.Header, o.Settings.Timeouts.Request = 100*time.Millisecond, 100*time.Millisecond
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.gw.Serve(ctx, ln) }()
	for name, text := range map[string]string{
		"header": "POST /v1/chat/completions HTTP/1.1\r\nHost: loc",
		"body":   "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		begin := time.Now()
		statuses, all := raw(t, "http://"+ln.Addr().String(), text)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: %v", name, took)
		}
		if len(statuses) > 0 && statuses[0] < 400 {
			t.Errorf("%s: %v %s", name, statuses, all)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
