package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/relay"
	"github.com/stopgate/stopgate/internal/relay/local"
)

// client is the library at the other end of a relay.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
	mu    sync.Mutex
}

// connect starts a relay to a handler, or to what dial connects to.
func connect(t *testing.T, h http.Handler, dial func(context.Context) (net.Conn, error)) *client {
	t.Helper()
	if dial == nil {
		pipe := local.NewPipe()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			h.ServeHTTP(w, r)
		})}
		go server.Serve(pipe)
		t.Cleanup(func() { server.Close() })
		dial = pipe.Dial
	}
	in, write := io.Pipe()
	read, out := io.Pipe()
	c := &client{t: t, in: write, lines: bufio.NewScanner(read), ended: make(chan error, 1)}
	c.lines.Buffer(nil, 20<<20)
	go func() {
		err := relay.Serve(t.Context(), in, out, relay.Options{Dial: dial, Hello: []byte(`{"hello":{}}`)})
		in.Close()
		out.Close()
		c.ended <- err
	}()
	t.Cleanup(func() {
		write.Close()
		read.Close()
	})
	if f := c.next(); f["hello"] == nil {
		t.Fatalf("first frame: %v", f)
	}
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.t.Error(err)
	}
}

func (c *client) next() (f map[string]any) {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("the relay ended: %v", c.lines.Err())
	}
	if err := json.Unmarshal(c.lines.Bytes(), &f); err != nil {
		c.t.Fatalf("%v: %s", err, c.lines.Bytes())
	}
	return f
}

// code returns the code of an error frame.
func code(f map[string]any) string {
	e, _ := f["error"].(map[string]any)
	text, _ := e["code"].(string)
	return text
}

var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/hang":
		<-r.Context().Done()
	case "/die":
		panic(http.ErrAbortHandler)
	case "/half": // ends in the middle of a response
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, "{\"call\":1}\n")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "/redirect":
		http.Redirect(w, r, "/v1/calls", http.StatusTemporaryRedirect)
	case "/binary":
		w.Write([]byte{'"', 0xff, '"'})
	case "/large":
		io.WriteString(w, strings.Repeat("ü", 3<<20))
	case "/stream":
		w.Header().Set("Content-Type", "application/x-ndjson")
		http.NewResponseController(w).Flush()
		for in := bufio.NewScanner(r.Body); in.Scan(); {
			fmt.Fprintln(w, in.Text())
			http.NewResponseController(w).Flush()
		}
	default:
		text, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Given", r.Header.Get("X-Given"))
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, text)
	}
})

// Whole requests and responses, in any order, with the bytes of the body.
func TestWhole(t *testing.T) {
	c := connect(t, echo, nil)
	c.send(`{"id":3,"method":"POST","path":"/v1/calls?a=1","headers":{"X-Given":"ü"},"body":"a\u0000\"\u2028é"}`)
	f := c.next()
	if f["id"] != 3.0 || f["status"] != 200.0 || f["body"] != "POST /v1/calls?a=1 a\x00\"\u2028é" || f["headers"].(map[string]any)["x-given"] != "ü" {
		t.Errorf("%q", f)
	}
	for i, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		c.send(`{"id":%d,"method":%q,"path":"/v1/x"}`, 40+i, method)
		if f := c.next(); f["headers"].(map[string]any)["x-length"] != "0" {
			t.Errorf("%s without a body: %v", method, f)
		}
	}
	c.send(`{"id":50,"method":"GET","path":"/redirect"}`)
	if f := c.next(); f["status"] != 307.0 {
		t.Errorf("a redirect is followed: %v", f)
	}
	c.send(`{"id":51,"method":"GET","path":"/large"}`)
	var got strings.Builder
	f = c.next()
	for f = c.next(); f["end"] == nil; f = c.next() {
		got.WriteString(f["body"].(string))
	}
	if got.String() != strings.Repeat("ü", 3<<20) {
		t.Errorf("%d bytes", got.Len())
	}
}

// A stream goes both ways at once; other requests do not wait for it.
func TestStream(t *testing.T) {
	c := connect(t, echo, nil)
	c.send(`{"id":1,"method":"POST","path":"/stream","body":"one\n","open":true}`)
	if f := c.next(); f["open"] != true {
		t.Fatal(f)
	}
	if f := c.next(); f["body"] != "one\n" {
		t.Fatal(f)
	}
	c.send(`{"id":2,"method":"GET","path":"/v1/x"}`)
	if f := c.next(); f["id"] != 2.0 {
		t.Fatal(f)
	}
	c.send(`{"id":1,"body":"tw"}`)
	c.send(`{"id":1,"body":"o\n","end":true}`)
	if f := c.next(); f["body"] != "two\n" {
		t.Fatal(f)
	}
	if f := c.next(); f["end"] != true {
		t.Fatal(f)
	}
	c.send(`{"id":1,"cancel":true}`) // the client may not know yet that it has ended
	c.send(`{"id":3,"method":"GET","path":"/v1/x"}`)
	if f := c.next(); f["id"] != 3.0 {
		t.Fatal(f)
	}
}

// Every request ends with one frame, whatever the gate does; none is sent twice.
func TestFaultsOfTheGate(t *testing.T) {
	c := connect(t, echo, nil)
	id := 0
	for path, want := range map[string]string{"/die": relay.Lost, "/binary": relay.Lost, "/half": relay.Lost} {
		id++
		c.send(`{"id":%d,"method":"POST","path":%q,"body":"x"}`, id, path)
		f := c.next()
		for f["open"] != nil || f["body"] != nil {
			f = c.next()
		}
		if code(f) != want || f["id"] != float64(id) {
			t.Errorf("%s: %v", path, f)
		}
	}
	c.send(`{"id":%d,"method":"POST","path":"/hang","body":""}`, id+1)
	c.send(`{"id":%d,"cancel":true}`, id+1)
	if f := c.next(); code(f) != relay.Cancelled {
		t.Error(f)
	}
	for i, part := range []string{`"body":"more"`, `"body":"","end":true`} { // of a body that was whole
		c.send(`{"id":%d,"method":"POST","path":"/hang","body":"x"}`, id+4+i)
		c.send(`{"id":%d,%s}`, id+4+i, part)
		if f := c.next(); code(f) != relay.BadRequest {
			t.Error(f)
		}
	}
	id += 6
	c.send(`{"id":%d,"method":"GET","path":"/v1/x","headers":{"X-A":"a\nb"}}`, id+2)
	if f := c.next(); f["error"] == nil {
		t.Error(f)
	}
	c.send(`{"id":%d,"method":"GET","path":"/%%zz"}`, id+3)
	if f := c.next(); code(f) != relay.BadRequest {
		t.Error(f)
	}
}

// What answers nonsense, or nothing, allows nothing.
func TestNonsense(t *testing.T) {
	for name, text := range map[string]string{
		"no HTTP":   "220 mail.example.com ESMTP\r\n\r\n",
		"cut":       "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":\"allowed\"",
		"no answer": "",
		"cut head":  "HTTP/1.1 200 OK\r\nContent-",
	} {
		c := connect(t, nil, func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				http.ReadRequest(bufio.NewReader(theirs))
				io.WriteString(theirs, text)
				theirs.Close()
			}()
			return ours, nil
		})
		c.send(`{"id":1,"method":"POST","path":"/v1/calls","body":"{}"}`)
		if f := c.next(); code(f) != relay.Lost {
			t.Errorf("%s: %v", name, f)
		}
	}
	c := connect(t, nil, func(context.Context) (net.Conn, error) {
		return nil, &relay.Problem{Code: relay.Untrusted, Detail: "no"}
	})
	c.send(`{"id":1,"method":"GET","path":"/v1/x"}`)
	if f := c.next(); code(f) != relay.Untrusted {
		t.Error(f)
	}
}

// A frame that is not understood ends the relay, with everything that is open.
func TestBadFrames(t *testing.T) {
	for _, bad := range []string{
		``, `x`, `[]`, `{}`, `{"id":0,"method":"GET","path":"/a"}`, `{"id":-1,"method":"GET","path":"/a"}`, `{"id":1.5,"method":"GET","path":"/a"}`,
		`{"id":"2","method":"GET","path":"/a"}`, `{"id":9007199254740992,"method":"GET","path":"/a"}`, `{"id":2,"method":"get","path":"/a"}`,
		`{"id":2,"method":"CONNECT","path":"/a"}`, `{"id":2,"method":"GET","path":"a"}`, `{"id":2,"method":"GET","path":"http://x/a"}`, `{"id":2,"method":"GET"}`,
		`{"id":2,"path":"/a"}`, `{"id":2,"method":"GET","path":"/a","more":1}`, `{"id":2,"id":3,"method":"GET","path":"/a"}`,
		`{"id":2,"method":"GET","path":"/a","headers":{"Host":"x"}}`, `{"id":2,"method":"GET","path":"/a","headers":{"content-length":"1"}}`,
		`{"id":2,"method":"GET","path":"/a","headers":{"A":1}}`, `{"id":2,"method":"GET","path":"/a","headers":{"a":"1","A":"2"}}`,
		`{"id":2,"method":"GET","path":"/a","body":{}}`, `{"id":2,"method":"GET","path":"/a","open":false}`, `{"id":2,"method":"GET","path":"/a","end":true}`,
		`{"id":1,"method":"GET","path":"/a"}`, // not greater than the last
		`{"id":2,"body":"x"}`, `{"id":2,"cancel":true}`, `{"id":1,"cancel":true,"body":"x"}`, `{"id":1,"end":true}`, `{"id":1}`,
		`{"id":2,"method":"GET","path":"/a"} {}`, `{"id":2,"method":"GET","path":"` + strings.Repeat("/a", 8<<20) + `"}`,
	} {
		c := connect(t, echo, nil)
		c.send(`{"id":1,"method":"POST","path":"/hang","body":"x"}`)
		go c.send("%s", bad)
		if f := c.next(); code(f) != relay.BadFrame || f["id"] != nil {
			t.Errorf("%.100s: %v", bad, f)
		}
		if c.lines.Scan() {
			t.Errorf("%.100s: another frame: %s", bad, c.lines.Bytes())
		}
		if err := <-c.ended; err == nil {
			t.Errorf("%.100s: no error", bad)
		}
	}
}

// A client that leaves ends the relay and its requests, in the middle of a frame too.
func TestClientLeaves(t *testing.T) {
	for _, last := range []string{"", `{"id":2,"method":"POST","pa`} {
		begun, left := make(chan struct{}), make(chan struct{})
		c := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			close(begun)
			<-r.Context().Done()
			close(left)
		}), nil)
		c.send(`{"id":1,"method":"POST","path":"/v1/calls","body":"x"}`)
		<-begun
		io.WriteString(c.in, last)
		c.in.Close()
		go func() {
			for c.lines.Scan() {
			}
		}()
		if err := <-c.ended; (err == nil) != (last == "") {
			t.Errorf("%q: %v", last, err)
		}
		<-left
	}
}

// A thousand calls at once have a thousand answers, each its own.
func TestThousandAtOnce(t *testing.T) {
	c := connect(t, echo, nil)
	const n = 1000
	go func() {
		for i := 1; i <= n; i++ {
			c.send(`{"id":%d,"method":"POST","path":"/v1/calls","body":"call %d"}`, i, i)
		}
	}()
	seen := map[float64]bool{}
	for range n {
		f := c.next()
		id := f["id"].(float64)
		if f["body"] != fmt.Sprintf("POST /v1/calls call %d", int(id)) || seen[id] {
			t.Fatalf("%v", f)
		}
		seen[id] = true
	}
}

// No request is sent twice, whatever its method is: not after the gate died with a connection that
// was used before.
func TestNothingIsSentTwice(t *testing.T) {
	var mu sync.Mutex
	got := map[string]int{}
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		got[r.URL.Path]++
		mu.Unlock()
		if r.URL.Path != "/ok" {
			panic(http.ErrAbortHandler)
		}
	}), nil)
	id := 0
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		for _, body := range []string{"", "x"} {
			c.send(`{"id":%d,"method":"GET","path":"/ok"}`, id+1)
			if f := c.next(); f["status"] != 200.0 {
				t.Fatal(f)
			}
			id += 2
			path := fmt.Sprintf("/%s%s", method, body)
			c.send(`{"id":%d,"method":%q,"path":%q,"body":%q,"headers":{"Idempotency-Key":"k"}}`, id, method, path, body)
			if f := c.next(); code(f) != relay.Lost {
				t.Error(f)
			}
			if got[path] != 1 {
				t.Errorf("%s was sent %d times", path, got[path])
			}
		}
	}
}
