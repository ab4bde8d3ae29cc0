package ask_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/ask"
)

// Proves FM9: a message is read as it was written, or rejected.
func TestMessages(t *testing.T) {
	q := ask.Request{Nonce: [16]byte{1, 2, 15: 3}, Spent: 5*time.Hour + 7, Args: []string{"claude-code", "", "--policy", "/x y"}, Dir: "/d", Env: []string{"HOME=/h"}, Event: []byte("{}")}
	text := q.Append(nil)
	n, err := ask.BodyLen(text[:ask.HeaderLen])
	if err != nil || n != len(text)-ask.HeaderLen {
		t.Fatal(n, err)
	}
	body := text[ask.HeaderLen:]
	var got ask.Request
	if err := got.Parse(body); err != nil || !reflect.DeepEqual(got, q) {
		t.Fatalf("%+v %v", got, err)
	}
	for i := range body {
		if new(ask.Request).Parse(body[:i]) == nil {
			t.Errorf("%d bytes are a question", i)
		}
	}
	if new(ask.Request).Parse(append(bytes.Clone(body), 0)) == nil {
		t.Error("more than a question is one")
	}
	for _, header := range [][]byte{nil, text[:ask.HeaderLen-1], make([]byte, ask.HeaderLen), append(bytes.Clone(text[:ask.HeaderLen-4]), 0xff, 0xff, 0xff, 0xff)} {
		if _, err := ask.BodyLen(header); err == nil {
			t.Errorf("%q is a header", header)
		}
	}
	r := ask.Reply{Kind: ask.Answered, Exit: 2, Lenient: true, Out: []byte("out"), Err: []byte("err")}
	text = r.Append(nil, q.Nonce)
	for i := range text {
		var cut ask.Reply
		if _, short, err := cut.Parse(text[:i], q.Nonce); !short || err != nil {
			t.Errorf("%d bytes: %v %v", i, short, err)
		}
	}
	var back ask.Reply
	if rest, short, err := back.Parse(append(text, 'x'), q.Nonce); short || err != nil || string(rest) != "x" || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v %q %v %v", back, rest, short, err)
	}
	if _, _, err := new(ask.Reply).Parse(text, [16]byte{}); err == nil {
		t.Error("an answer to another question")
	}
	text[0] = 9
	if _, _, err := new(ask.Reply).Parse(text, q.Nonce); err == nil {
		t.Error("an unknown kind")
	}
}

// FuzzRequest checks that a parsed request is written back unchanged.
func FuzzRequest(f *testing.F) {
	q := ask.Request{Args: []string{"a"}, Env: []string{"b"}, Event: []byte("{}")}
	f.Add(q.Append(nil)[ask.HeaderLen:])
	f.Fuzz(func(t *testing.T, body []byte) {
		var q ask.Request
		if q.Parse(body) != nil {
			return
		}
		var second ask.Request
		if err := second.Parse(q.Append(nil)[ask.HeaderLen:]); err != nil || !reflect.DeepEqual(second, q) {
			t.Errorf("%+v is read as %+v: %v", q, second, err)
		}
	})
}
