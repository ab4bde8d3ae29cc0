package jsonstream_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// anyNumber are options without a limit on exponents, as test suites expect.
var anyNumber = jsonstream.Options{MaxExponent: jsonstream.AnyExponent}

// recorder records every event in a form independent of the parts of a string: each character with
// the offset at which it was complete.
type recorder struct {
	t      testing.TB
	trace  []byte
	events int
	stopAt int // the event at which it stops the parser, counted from 1; 0 never
	last   int64
}

func (r *recorder) Event(e *jsonstream.Event) bool {
	r.events++
	if e.Offset < r.last {
		r.t.Errorf("%v at %d comes behind offset %d", e.Kind, e.Offset, r.last)
	}
	r.last = e.Offset
	if e.Kind == jsonstream.StringPart {
		r.part(e)
	} else {
		r.trace = fmt.Appendf(r.trace, "%d %v %q\n", e.Offset, e.Kind, e.Text)
	}
	return r.events == r.stopAt
}

func (r *recorder) part(e *jsonstream.Event) {
	if len(e.Text) == 0 || !utf8.Valid(e.Text) || e.Escaped && utf8.RuneCount(e.Text) != 1 {
		r.t.Errorf("a part at %d is not made of whole characters: %q", e.Offset, e.Text)
	}
	for i, c := range string(e.Text) {
		offset := e.Offset
		if !e.Escaped {
			offset += int64(i + utf8.RuneLen(c) - len(e.Text))
		}
		r.trace = fmt.Appendf(r.trace, "%d %q %t\n", offset, c, e.Escaped)
	}
}

// outcome is the complete result of a parse.
type outcome struct {
	trace string
	err   string
	code  stopgate.Code
	at    int64
	empty bool
	end   int64
}

// push parses text split at the given positions.
func push(t testing.TB, text string, o jsonstream.Options, cuts ...int) outcome {
	r := &recorder{t: t}
	return pushTo(r, text, o, cuts...)
}

func pushTo(r *recorder, text string, o jsonstream.Options, cuts ...int) outcome {
	p := jsonstream.NewParser(r, o)
	from := 0
	for _, cut := range append(cuts, len(text)) {
		// The parser must not keep its input.
		chunk := []byte(text[from:cut])
		p.Feed(chunk)
		clear(chunk)
		from = cut
	}
	err := p.Close()
	got := describe(err)
	got.trace, got.end = string(r.trace), p.Offset()
	if again := describe(p.Feed([]byte("x"))); again.err != got.err {
		r.t.Errorf("%.60q: an error is not final: %q, then %q", text, got.err, again.err)
	}
	if again := describe(p.Close()); again.err != got.err {
		r.t.Errorf("%.60q: closed twice: %q, then %q", text, got.err, again.err)
	}
	return got
}

func describe(err error) (got outcome) {
	if err == nil {
		return got
	}
	var e *jsonstream.Error
	if !errors.As(err, &e) {
		return outcome{err: "not an *Error: " + err.Error()}
	}
	return outcome{err: err.Error(), code: e.Code, at: e.Offset, empty: e.Empty}
}

// byteByByte returns every position between two bytes.
func byteByByte(text string) (cuts []int) {
	for i := 1; i < len(text); i++ {
		cuts = append(cuts, i)
	}
	return cuts
}

// everyWay parses text in one chunk, byte by byte, with every two splits, or with every one if it
// is long, and with a scan; it checks that the outcome is always the same and returns it.
func everyWay(t testing.TB, text string, o jsonstream.Options) outcome {
	t.Helper()
	want := push(t, text, o)
	same := func(got outcome, how string, cuts ...int) {
		if got != want {
			t.Fatalf("%.200q, %s %v:\n%+v\nin one piece:\n%+v", text, how, cuts, got, want)
		}
	}
	same(push(t, text, o, byteByByte(text)...), "byte by byte")
	for i := range len(text) + 1 {
		if len(text) > 5_000 && i%(len(text)/500) != 0 {
			continue
		}
		same(push(t, text, o, i), "cut at", i)
		if len(text) > 600 || testing.Short() && len(text) > 120 {
			continue
		}
		for j := i; j <= len(text); j++ {
			same(push(t, text, o, i, j), "cut at", i, j)
		}
	}
	var d jsonstream.Document
	if got := describe(d.Scan([]byte(text), o)); got.err != want.err || got.empty != want.empty {
		t.Fatalf("%.200q: a scan says %q, a parser %q", text, got.err, want.err)
	}
	return want
}

// lines joins the lines of an expected trace.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }
