package ask_test

import (
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/testkit/hookserver"
)

// Proves FM9: a request is read as it was written, by an HTTP library too.
func TestRequestIsHTTP(t *testing.T) {
	q := &ask.Request{
		Nonce: "0123", Spent: 5*time.Hour + 7*time.Microsecond, Args: []string{"claude-code", "", "--policy", "/x y%20\r\nHost: z", " ä\xff "},
		Dir: "/d\n", Env: []string{"HOME=/h", "XDG_STATE_HOME=\t"}, Event: []byte("{}\r\n\r\n"),
	}
	here, there := net.Pipe()
	go here.Write(q.Append(nil))
	got, err := hookserver.Read(there)
	if err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Proves FM9: a response is read as it was written, or rejected.
func TestResponses(t *testing.T) {
	r := ask.Reply{Kind: ask.Answered, Exit: 2, Lenient: true, Out: []byte("out"), Err: []byte("err\r\n\r\n")}
	text := hookserver.Text(r, "n")
	for i := range text {
		var cut ask.Reply
		if _, short, err := cut.Parse(text[:i], "n"); !short || err != nil {
			t.Errorf("%d bytes: %v %v", i, short, err)
		}
	}
	var back ask.Reply
	if rest, short, err := back.Parse(append(text, 'x'), "n"); short || err != nil || string(rest) != "x" || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v %q %v %v", back, rest, short, err)
	}
	if _, _, err := new(ask.Reply).Parse(text, "m"); err == nil {
		t.Error("an answer to another request")
	}
	for _, change := range [][2]string{
		{"HTTP/1.1 200", "HTTP/1.0 200"},
		{"Stopgate-Exit: 2\r\n", ""}, {"Stopgate-Exit: 2", "Stopgate-Exit: 256"}, {"Stopgate-Exit: 2", "Stopgate-Exit: -2"},
		{"Content-Length: 10\r\n", ""}, {"Content-Length: 10", "Content-Length: 2"}, {"Content-Length: 10", "Content-Length: 99999999999"},
		{"Content-Length: 10", "Content-Length: 10\r\nContent-Length: 10"}, {"Stopgate-Nonce: n\r\n", ""}, {"Stopgate-Nonce: n", "Stopgate-Nonce: n\r\nx"},
		{"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 5000) + "\r\n"},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			t.Fatalf("%q is not in the response", change[0])
		}
		if _, short, err := new(ask.Reply).Parse([]byte(changed), "n"); short || err == nil {
			t.Errorf("%q: %v", changed, err)
		}
	}
}

// FuzzResponse checks that a parsed answer is part of the response, and that more bytes do not change it.
func FuzzResponse(f *testing.F) {
	f.Add(hookserver.Text(ask.Reply{Kind: ask.Answered, Out: []byte("a"), Err: []byte("b")}, "n"))
	f.Add(hookserver.Text(ask.Reply{Kind: ask.Held}, "n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second ask.Reply
		rest, cut, err := first.Parse(text, "n")
		if cut || err != nil {
			return
		}
		if len(first.Out)+len(first.Err)+len(rest) > len(text) {
			t.Errorf("%+v and %d bytes from %d", first, len(rest), len(text))
		}
		more, cut, err := second.Parse(append(text, "xyz"...), "n")
		if cut || err != nil || !reflect.DeepEqual(first, second) || first.Kind != ask.Declined && string(more) != string(rest)+"xyz" {
			t.Errorf("%+v becomes %+v, %v", first, second, err)
		}
	})
}
