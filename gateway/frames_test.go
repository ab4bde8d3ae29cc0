package gateway_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// Frames of HTTP/2 (RFC 9113, 6).
const (
	frameData         = 0
	frameHeaders      = 1
	frameReset        = 3
	frameSettings     = 4
	framePush         = 5
	framePing         = 6
	frameGoAway       = 7
	frameContinuation = 9

	endStream  = 1
	endHeaders = 4
	padded     = 8
)

// framed is a connection of a provider that writes arbitrary HTTP/2 frames.
type framed struct {
	net.Conn
	in *bufio.Reader
}

func (c framed) write(kind, flags byte, stream uint32, payload string) bool {
	head := make([]byte, 9, 9+len(payload))
	binary.BigEndian.PutUint32(head, uint32(len(payload))<<8)
	head[3], head[4] = kind, flags
	binary.BigEndian.PutUint32(head[5:], stream)
	_, err := c.Write(append(head, payload...))
	return err == nil
}

func (c framed) read() (kind, flags byte, stream uint32, err error) {
	head := make([]byte, 9)
	if _, err = io.ReadFull(c.in, head); err != nil {
		return 0, 0, 0, err
	}
	size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
	_, err = io.CopyN(io.Discard, c.in, size)
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]), err
}

// head returns a header block in literals (RFC 7541): a status, a content type and others.
func head(status string, more ...string) string {
	literal := func(text string) string { return string(rune(len(text))) + text }
	block := "\x88" // :status 200
	if status != "200" {
		block = "\x08" + literal(status)
	}
	block += "\x0f\x10" + literal("text/event-stream")
	for i := 0; i < len(more); i += 2 {
		block += "\x00" + literal(more[i]) + literal(more[i+1])
	}
	return block
}

// framedProvider answers every request with a script, and counts the requests.
func framedProvider(t *testing.T, settings string, script func(c framed, stream uint32)) (url, ca string, requests *atomic.Int64) {
	t.Helper()
	lender := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(lender.Close)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	// A connection with a cancelled stream may not be idle yet when the gateway closes, so the
	// provider closes it.
	over := make(chan struct{})
	var serving sync.WaitGroup
	t.Cleanup(func() { ln.Close(); close(over); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				served := make(chan struct{})
				go func() {
					select {
					case <-over:
						conn.Close()
					case <-served:
					}
				}()
				serveFrames(framed{conn, bufio.NewReader(conn)}, settings, requests, script)
				close(served)
			})
		}
	})
	ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: lender.Certificate().Raw}))
	return "https://" + ln.Addr().String(), ca, requests
}

func serveFrames(c framed, settings string, requests *atomic.Int64, script func(c framed, stream uint32)) {
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c.in, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil || !c.write(frameSettings, 0, 0, settings) {
		return
	}
	for {
		kind, flags, stream, err := c.read()
		switch {
		case err != nil:
			return
		case kind == frameSettings && flags == 0:
			c.write(frameSettings, 1, 0, "")
		case (kind == frameData || kind == frameHeaders) && flags&endStream != 0:
			requests.Add(1)
			script(c, stream)
		}
	}
}

// Proves F10, F13, F14, F17, FM5, L6: a provider that misuses HTTP/2. A call reaches the client
// only after the end of its turn, everything ends in time, and frames do not change the content of
// a response.
func TestInvalidFrames(t *testing.T) {
	full := chatStream("tool_calls", chatCall(0, "c1", "a", `{"path":"src/a"}`))
	cut := full[:strings.Index(full, `"tool_calls"}`)]
	cut = cut[:strings.LastIndex(cut, "\n\n")+2]
	code := func(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
	const noError, protocolError, internal, refused, cancel = 0, 1, 2, 7, 8
	for _, test := range []struct {
		name, settings string
		script         func(c framed, stream uint32)
		call           bool   // it reaches the client
		want           string // in the response
		requests       int64  // at most; 0 for one
	}{
		{name: "as it should be", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, endStream, n, full)
		}},
		{name: "no end behind the end", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, full)
		}},
		{name: "reset behind the end", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, full)
			c.write(frameReset, 0, n, code(noError))
		}},
		{name: "reset instead of an answer", want: "upstream_error", script: func(c framed, n uint32) { c.write(frameReset, 0, n, code(internal)) }},
		{name: "cancel instead of an answer", want: "upstream_error", script: func(c framed, n uint32) { c.write(frameReset, 0, n, code(cancel)) }},
		{name: "reset behind the header", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameReset, 0, n, code(internal))
		}},
		{name: "reset in the call", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameReset, 0, n, code(internal))
		}},
		{name: "reset without an error in the call", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameReset, 0, n, code(noError))
		}},
		{name: "end in the call", want: "stream_truncated", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, endStream, n, cut)
		}},
		{name: "end in an event", want: "stream_truncated", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, endStream, n, cut+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
		}},
		{name: "trailers that say something else", want: "stream_truncated", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameHeaders, endHeaders|endStream, n, "\x0f\x10\x10application/json")
		}},
		{name: "a second header", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, endStream, n, full)
		}},
		{name: "an early hint", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("103", "link", "</x>"))
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, endStream, n, full)
		}},
		{name: "early hints without end", want: `"error"`, script: func(c framed, n uint32) {
			for c.write(frameHeaders, endHeaders, n, head("103", "link", strings.Repeat("x", 100))) {
			}
		}},
		{name: "a length that is too short", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200", "content-length", "9"))
			c.write(frameData, endStream, n, cut)
		}},
		{name: "a length that is too long", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200", "content-length", "99999"))
			c.write(frameData, endStream, n, cut)
		}},
		{name: "headers of HTTP/1", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, "\x0f\x10\x11text/event-stream")
			c.write(frameData, endStream, n, full)
		}},
		{name: "a header with a line end", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200", "x-a", "b\r\nset-cookie: c"))
			c.write(frameData, endStream, n, full)
		}},
		{name: "a header without end", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameHeaders, 0, n, head("200"))
			for c.write(frameContinuation, 0, n, "\x00\x03x-a"+string(rune(120))+strings.Repeat("x", 120)) {
			}
		}},
		{name: "padding", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			for _, b := range []byte(full) {
				c.write(frameData, padded, n, "\x05"+string(rune(b))+strings.Repeat("\x00", 5))
			}
			c.write(frameData, endStream, n, "")
		}},
		{name: "frames without data", want: "upstream_timeout", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			for range 10_000 {
				if !c.write(frameData, 0, n, "") {
					return
				}
			}
		}},
		{name: "pings and no answer", want: "upstream_timeout", script: func(c framed, _ uint32) {
			for range 1000 {
				if !c.write(framePing, 0, 0, "12345678") {
					return
				}
			}
		}},
		{name: "a promise", want: "upstream_error", script: func(c framed, n uint32) { c.write(framePush, endHeaders, n, code(2)+head("200")) }},
		{name: "data of another stream", want: "upstream_error", script: func(c framed, n uint32) {
			c.write(frameData, endStream, n+2, full)
		}},
		{name: "more than was asked for", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			one := "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"" + strings.Repeat(" ", 16000) + "\"}}]}}]}\n\n"
			for c.write(frameData, 0, n, one) {
			}
		}},
		{name: "goodbye to others", call: true, want: "[DONE]", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameGoAway, 0, 0, code(n)+code(noError))
			c.write(frameData, endStream, n, full[len(cut):])
		}},
		{name: "goodbye in the call", want: `"error"`, script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
			c.write(frameGoAway, 0, 0, code(0)+code(protocolError))
			c.Close()
		}},
		// Requests that were not processed may be retried (RFC 9113, 8.7), a bounded number of
		// times.
		{name: "refused", want: `"error"`, requests: 8, script: func(c framed, n uint32) { c.write(frameReset, 0, n, code(refused)) }},
		{name: "silence behind the header", want: "upstream_timeout", script: func(c framed, n uint32) {
			c.write(frameHeaders, endHeaders, n, head("200"))
			c.write(frameData, 0, n, cut)
		}},
		{name: "no window for the request", settings: "\x00\x04\x00\x00\x00\x00", want: "upstream_timeout", script: func(framed, uint32) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url, ca, requests := framedProvider(t, test.settings, test.script)
			r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) {
				o.Settings.Timeouts.KeepaliveFirst = 20 * time.Millisecond // interval of the watch
				o.Upstreams = []gateway.Upstream{{ID: "test", BaseURL: url, Authorities: ca, Timeouts: gateway.Timeouts{
					Answer: 2 * time.Second, IdleFirst: time.Second, Idle: time.Second,
				}}}
			})
			began := time.Now()
			a := r.post(chatPath, chatRequest(true))
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			if got := strings.Contains(a.body, `"c1"`); got != test.call {
				t.Errorf("call %t in %d\n%s", got, a.status, a.body)
			}
			mustContain(t, a.body, test.want)
			if n := requests.Load(); n > max(test.requests, 1) {
				t.Errorf("%d requests", n)
			}
			if got := r.gw.Stats(); got.Held != 0 {
				t.Errorf("held bytes stay: %d", got.Held)
			}
		})
	}
}
