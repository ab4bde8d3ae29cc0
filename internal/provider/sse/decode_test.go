package sse_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// message is what a client that follows the standard receives.
type message struct{ typ, data string }

// naive decodes a whole stream as the standard describes it: it normalises line ends, then
// splits lines.
func naive(stream string) (messages []message, tail string) {
	text := strings.TrimPrefix(stream, "\xEF\xBB\xBF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	lines := strings.Split(text, "\n")
	last := lines[len(lines)-1] // incomplete line
	lines = lines[:len(lines)-1]
	var m message
	var data []string
	var pending []string
	has := false
	for _, line := range lines {
		pending = append(pending, line)
		if line == "" {
			if has {
				m.data = strings.Join(data, "\n")
				messages = append(messages, m)
			}
			m.typ, data, has, pending = "", nil, false, nil
			continue
		}
		if strings.HasPrefix(line, ":") {
			if len(pending) == 1 {
				pending = nil
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data, has = append(data, value), true
		case "event":
			m.typ = value
		}
	}
	return messages, strings.Join(append(pending, last), "\n")
}

// fataler is the common part of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// decode feeds the chunks and returns the dispatched messages, the forwarded bytes and the
// tail.
func decode(t fataler, pieces ...string) (messages []message, forwarded, tail string) {
	t.Helper()
	d := sse.NewDecoder(nil, sse.Limits{})
	var ev sse.Event
	var out []byte
	for _, p := range pieces {
		d.Feed([]byte(p))
		for {
			ok, err := d.Next(&ev)
			if err != nil {
				t.Fatalf("limit: %v", err)
			}
			if !ok {
				break
			}
			out = ev.AppendTo(out)
			if ev.Dispatched {
				messages = append(messages, message{typ: string(ev.Type), data: string(ev.Data)})
			}
		}
	}
	return messages, string(out), string(d.Tail())
}

func same(a, b []message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].typ != b[i].typ || a[i].data != b[i].data {
			return false
		}
	}
	return true
}

// Proves F12: a caller that recognises units itself and skips them leaves the decoder in
// the same state.
func TestRestAndSkip(t *testing.T) {
	const known = "data: known\n\n"
	stream := "\xEF\xBB\xBF" + known + known + ": c\n\ndata: a\r\n\r\n" + known + "event: b\ndata: b\r\r" + known + "data: c\n\n" + known
	want, _, _ := decode(t, stream)
	for first := range len(stream) {
		for second := first; second < len(stream); second++ {
			d := sse.NewDecoder(nil, sse.Limits{})
			var ev sse.Event
			var got []message
			for _, piece := range []string{stream[:first], stream[first:second], stream[second:]} {
				d.Feed([]byte(piece))
				for {
					n := 0
					for strings.HasPrefix(string(d.Rest()[n:]), known) {
						got = append(got, message{data: "known"})
						n += len(known)
					}
					d.Skip(n)
					ok, err := d.Next(&ev)
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						break
					}
					if ev.Dispatched {
						got = append(got, message{typ: string(ev.Type), data: string(ev.Data)})
					}
				}
			}
			if !same(got, want) || len(d.Tail()) > 0 {
				t.Fatalf("cut at %d and %d: got %q, want %q, tail %q", first, second, got, want, d.Tail())
			}
		}
	}
	d := sse.NewDecoder(nil, sse.Limits{MaxEvent: 20})
	d.Feed([]byte("data: 0123456789012345\n\n"))
	var ev sse.Event
	if _, err := d.Next(&ev); err == nil || d.Rest() != nil {
		t.Errorf("there is a rest behind the error %v", err)
	}
}

// Proves F12: every way of framing an event that the standard knows.
func TestDecode(t *testing.T) {
	m := func(typ, data string) message { return message{typ: typ, data: data} }
	for _, c := range []struct {
		name, in  string
		want      []message
		tail      string
		forwarded string // "": the bytes as they came, without the tail
	}{
		{"one event", "data: x\n\n", []message{m("", "x")}, "", ""},
		{"no space behind the colon", "data:x\n\n", []message{m("", "x")}, "", ""},
		{"one space is removed, no more", "data:  x\n\n", []message{m("", " x")}, "", ""},
		{"CRLF", "data: x\r\n\r\n", []message{m("", "x")}, "", ""},
		{"lone CR is framed anew", "data: x\r\r", []message{m("", "x")}, "", "data: x\n\n"},
		{"line ends mixed", "event: a\r\ndata: x\n\r\n", []message{m("a", "x")}, "", ""},
		{"several data lines", "data: x\ndata: y\ndata\n\n", []message{m("", "x\ny\n")}, "", ""},
		{"several data lines, lone CR", "data: x\rdata: y\r\r", []message{m("", "x\ny")}, "", "data: x\ndata: y\n\n"},
		{"data without colon", "data\n\n", []message{m("", "")}, "", ""},
		{"type behind data", "data: x\nevent: a\n\n", []message{m("a", "x")}, "", ""},
		{"the last type counts", "event: a\nevent: b\ndata: x\n\n", []message{m("b", "x")}, "", ""},
		{"a type in front of data, and NUL, CR, and fields between", "event:a\ndata:x\n\nevent: b\x00\ndata: y\n\nevent: c\ndata: z\r\n\nevent: d\nid: 1\ndata: u\n\nevents: e\ndata: v\n\nevent: f\ndata: w\ndata: w\n\n",
			[]message{m("a", "x"), m("b\x00", "y"), m("c", "z"), m("d", "u"), m("", "v"), m("f", "w\nw")}, "", "event:a\ndata:x\n\ndata: y\n\nevent: c\ndata: z\r\n\nevent: d\nid: 1\ndata: u\n\ndata: v\n\nevent: f\ndata: w\ndata: w\n\n"},
		{"an event without data resets the type", "event: a\n\ndata: x\n\n", []message{m("", "x")}, "", ""},
		// Lines that the standard ignores must not be forwarded where other readers parse
		// them.
		{"unknown field", "foo: bar\ndata: x\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"unknown field behind", "data: x\nDATA: y\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"name with a space behind", "data : x\n\n", nil, "", "\n"},
		{"no field", "{\"x\":1}\n\n", nil, "", "\n"},
		{"line ends of others in a comment", ": a\vdata: x\n: b\u2028data: x\n: c\u0085data: x\n: größe\n\n", nil, "", ": adata: x\n: bdata: x\n: cdata: x\n: größe\n\n"},
		{"line ends of others in a comment inside", "data: x\n: a\u2029data: y\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"line ends of others in a type", "event: a\fdata: y\ndata: x\n\n", []message{m("a\fdata: y", "x")}, "", "data: x\n\n"},
		{"line ends of others in an id", "id: a\x1edata: y\nid: b\u2028data: y\ndata: x\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"line ends of others in data", "data: x\u2028y\n\n", []message{m("", "x\u2028y")}, "", ""},
		{"a euro and a tab in an id", "id: €\t\ndata: x\n\n", []message{m("", "x")}, "", ""},
		{"field with a space in front", " data: x\n\n", nil, "", "\n"},
		{"comment", ": hello\n\ndata: x\n\n", []message{m("", "x")}, "", ""},
		{"comment inside", "data: x\n: hello\ndata: y\n\n", []message{m("", "x\ny")}, "", ""},
		{"byte order mark", "\xEF\xBB\xBFdata: x\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"byte order mark later is data", "data: x\n\n\xEF\xBB\xBFdata: y\n\n", []message{m("", "x")}, "", "data: x\n\n\n"},
		{"id with NUL", "id: a\x00b\ndata: x\n\n", []message{m("", "x")}, "", "data: x\n\n"},
		{"type with NUL", "event: a\x00b\ndata: x\n\n", []message{m("a\x00b", "x")}, "", "data: x\n\n"},
		{"fields survive new framing", "id: 7\rretry: 10\revent: a\rdata: x\r\r", []message{m("a", "x")}, "", "event: a\nid: 7\nretry: 10\ndata: x\n\n"},
		{"retry with letters is no field", "retry: 1s\rdata: x\r\r", []message{m("", "x")}, "", "data: x\n\n"},
		{"comment with NUL", ": a\x00b\n\n", nil, "", ": ab\n\n"},
		{"comment with lone CR", ": a\rdata: x\n\n", []message{m("", "x")}, "", ": a\ndata: x\n\n"},
		{"fields without data, framed anew", "id: 1\r\r", nil, "", "id: 1\n\n"},
		{"no blank line at the end", "data: x\n\ndata: y\n", []message{m("", "x")}, "data: y\n", ""},
		{"cut inside a line", "data: x\n\nda", []message{m("", "x")}, "da", ""},
		{"a comment is no tail", "data: x\n\n: alive\n", []message{m("", "x")}, "", ""},
		{"blank lines", "\n\n\ndata: x\n\n", []message{m("", "x")}, "", ""},
		{"empty", "", nil, "", ""},
		{"UTF-8", "data: größe 😀\n\n", []message{m("", "größe 😀")}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, forwarded, tail := decode(t, c.in)
			if !same(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if tail != c.tail {
				t.Errorf("tail %q, want %q", tail, c.tail)
			}
			want := c.forwarded
			if want == "" {
				want = strings.TrimSuffix(c.in, c.tail)
			}
			if forwarded != want {
				t.Errorf("forwarded %q, want %q", forwarded, want)
			}
		})
	}
}

// streams contain every feature of the framing.
var streams = []string{
	"\xEF\xBB\xBFdata: a\n\n: c\n\nevent: e\r\ndata: b\r\n\r\ndata: x\rdata: y\r\r",
	"data: x\r\n\r\ndata: y\r\n\r\n: alive\r\ndata: z\r\n\r\n",
	"id: 1\nretry: 5\ndata: größe 😀\ndata\n\n\n\r\n\revent\ndata:\n\n",
	": a\r: b\r\n: c\ndata: x\n: d\n\nfoo\n\ndata: [DONE]\n\ndata: cut",
	"data: x\n\r\ndata: y\r\n\ndata: z\r\r\n\n",
}

// Proves I2, I24, F12: dispatched and forwarded data do not depend on how the stream is
// split.
func TestDecodeDoesNotDependOnReads(t *testing.T) {
	for _, s := range streams {
		want, forwarded, tail := decode(t, s)
		if oracle, _ := naive(s); !same(want, oracle) {
			t.Errorf("%q: got %q, the oracle says %q", s, want, oracle)
		}
		check := func(pieces ...string) {
			t.Helper()
			got, f, rest := decode(t, pieces...)
			if !same(got, want) || f != forwarded || rest != tail {
				t.Errorf("%q: got %q %q %q, want %q %q %q", pieces, got, f, rest, want, forwarded, tail)
			}
		}
		for i := range len(s) + 1 {
			for j := i; j <= len(s); j++ {
				check(s[:i], s[i:j], s[j:])
			}
		}
		check(strings.Split(s, "")...)
	}
}

// Proves I24, F12: the forwarded framing has no lone CR and no NUL, and decodes to the same
// messages.
func TestForwardedUnitsDecodeTheSame(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"data", "event", "id", "retry", "foo", ":", ": ", " ", "\n", "\r", "\r\n", "\n\n", "x", "ü", "7", "\x00", "\xEF\xBB\xBF", "data: x\n\n", "data: y\r\n\r\n"})
		s := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "stream"), "")
		if bytes.Contains([]byte(s), []byte("data: \x00")) || strings.Contains(s, "\x00") && strings.Contains(s, "event") {
			s = strings.ReplaceAll(s, "\x00", "")
		}
		want, _ := naive(s)
		got, forwarded, _ := decode(t, s)
		if !same(got, want) {
			t.Fatalf("%q: got %q, the oracle says %q", s, got, want)
		}
		again, tail := naive(forwarded)
		if !same(again, want) || tail != "" {
			t.Fatalf("%q was forwarded as %q: %q, want %q", s, forwarded, again, want)
		}
		if strings.Contains(strings.ReplaceAll(forwarded, "\r\n", ""), "\r") {
			t.Fatalf("%q was forwarded with a lone CR: %q", s, forwarded)
		}
		cut := rapid.IntRange(0, len(s)).Draw(t, "cut")
		if _, f, _ := decode(t, s[:cut], s[cut:]); f != forwarded {
			t.Fatalf("%q cut at %d: forwarded %q, want %q", s, cut, f, forwarded)
		}
	})
}

// Proves F12: an event is written with LF and one data line, and decodes to its payload.
func TestEncode(t *testing.T) {
	got := string(sse.AppendEvent(sse.AppendEvent(nil, "", []byte(`{"a":1}`)), "ping", []byte(`{}`)))
	if want := "data: {\"a\":1}\n\nevent: ping\ndata: {}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(sse.AppendKeepalive(nil)); got != ": stopgate\n" {
		t.Errorf("keepalive %q", got)
	}
	messages, forwarded, _ := decode(t, got+": stopgate\n"+got)
	if len(messages) != 4 || forwarded != got+": stopgate\n"+got {
		t.Errorf("decoded %q, forwarded %q", messages, forwarded)
	}
}

// Proves F12, I24: a changed payload keeps the framing of its event, and cannot break it.
func TestChangedPayloadKeepsTheFraming(t *testing.T) {
	for _, c := range []struct{ name, in, payload, want string }{
		{"plain", "data: old\n\n", "new", "data: new\n\n"},
		{"other fields stay", "event: e\nid: 1\ndata:old\n: c\n\n", "new", "event: e\nid: 1\ndata:new\n: c\n\n"},
		{"CRLF stays", "data: old\r\n\r\n", "new", "data: new\r\n\r\n"},
		{"several lines become one", "event: e\ndata: {\ndata: }\n\n", "{\n}", "event: e\ndata: { }\n\n"},
		{"lone CR is framed anew", "event: e\rdata: old\r\r", "new", "event: e\ndata: new\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := range len(c.in) + 1 {
				d := sse.NewDecoder(nil, sse.Limits{})
				var ev sse.Event
				d.Feed([]byte(c.in[:cut]))
				ok, _ := d.Next(&ev)
				if !ok {
					d.Feed([]byte(c.in[cut:]))
					ok, _ = d.Next(&ev)
				}
				if !ok {
					t.Fatal("no event")
				}
				clone := ev.Clone(nil)
				for _, e := range []*sse.Event{&ev, &clone} {
					out := e.AppendHead([]byte("before"))
					at := len(out)
					out = e.AppendTail(append(out, c.payload...), at)
					if got := strings.TrimPrefix(string(out), "before"); got != c.want {
						t.Errorf("cut at %d: got %q, want %q", cut, got, c.want)
					}
				}
			}
		})
	}
}

// Proves F12: a clone is valid after the buffer of the decoder is reused.
func TestClone(t *testing.T) {
	d := sse.NewDecoder(make([]byte, 512), sse.Limits{})
	var ev sse.Event
	in := "event: e\rid: 1\rretry: 2\rdata: x\rdata: y\r\r"
	d.Feed([]byte(in))
	if ok, err := d.Next(&ev); !ok || err != nil {
		t.Fatal(ok, err)
	}
	clone := ev.Clone(nil)
	want := string(ev.AppendTo(nil))
	for range 100 {
		d.Feed([]byte("data: zzzzzzzzzzzzz\ndata: zzzzzzzz\n\n"))
		if _, err := d.Next(&ev); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(clone.AppendTo(nil)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if string(clone.Data) != "x\ny" {
		t.Errorf("data %q", clone.Data)
	}
}

// Proves F13, W52: the limits on an event, a line, a comment and blank lines without an
// event.
func TestLimits(t *testing.T) {
	limits := sse.Limits{MaxEvent: 100, MaxFiller: 40}
	event := func(n int) string { return "data: " + strings.Repeat("x", n-8) + "\n\n" }
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"event at the limit", event(100) + event(100), nil},
		{"event over the limit", event(101), sse.ErrEventTooLarge},
		{"event over the limit, many lines", strings.Repeat("data: 1234\n", 10) + "\n", sse.ErrEventTooLarge},
		{"line without end", "data: " + strings.Repeat("x", 200), sse.ErrEventTooLarge},
		{"CR event at the limit", strings.ReplaceAll(event(99), "\n", "\r"), nil},
		{"comments at the limit", strings.Repeat(": 34567\n", 5) + event(20) + strings.Repeat(": 34567\n", 5), nil},
		{"comments over the limit", strings.Repeat(": 34567\n", 5) + "\n", sse.ErrTooMuchFiller},
		{"comment without end", ": " + strings.Repeat("x", 60), sse.ErrTooMuchFiller},
		{"unknown field without end", strings.Repeat("x", 60), sse.ErrTooMuchFiller},
		{"unknown fields inside an event", "data: x\n" + strings.Repeat("f: 4567\n", 6) + "\n", sse.ErrTooMuchFiller},
		{"blank lines", strings.Repeat("\n", 41), sse.ErrTooMuchFiller},
		{"fields without data", strings.Repeat("id: 567\n\n", 5), sse.ErrTooMuchFiller},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.in); size++ {
				d := sse.NewDecoder(nil, limits)
				var ev sse.Event
				var err error
				for rest := c.in; rest != "" && err == nil; {
					n := min(size, len(rest))
					d.Feed([]byte(rest[:n]))
					rest = rest[n:]
					for ok := true; ok; {
						ok, err = d.Next(&ev)
					}
				}
				if err != c.want {
					t.Fatalf("pieces of %d: error %v, want %v", size, err, c.want)
				}
				if c.want != nil {
					d.Feed([]byte("\n\ndata: x\n\n"))
					if ok, again := d.Next(&ev); ok || again != c.want {
						t.Fatalf("the error did not stay: %v %v", ok, again)
					}
				}
			}
		})
	}
}

// Proves F13: the buffer grows for a large event and shrinks after it.
func TestLargeEvent(t *testing.T) {
	d := sse.NewDecoder(make([]byte, 1024), sse.Limits{})
	var ev sse.Event
	rng := rand.New(rand.NewPCG(1, 2))
	want := strings.Repeat("0123456789abcdef", 64<<10)
	in := "data: " + want + "\r\n\r\ndata: small\n\n"
	for rest := in; rest != ""; {
		n := min(rng.IntN(700)+1, len(rest))
		d.Feed([]byte(rest[:n]))
		rest = rest[n:]
		if ok, err := d.Next(&ev); err != nil {
			t.Fatal(err)
		} else if ok && string(ev.Data) == want {
			want = "small"
		} else if ok && string(ev.Data) != "small" {
			t.Fatalf("an event of %d bytes", len(ev.Data))
		}
	}
	for ok := true; ok; {
		ok, _ = d.Next(&ev)
	}
	if n := len(d.Space()); n > 1024 {
		t.Errorf("%d bytes of space behind a large event, want at most 1024", n)
	}
}

// Proves F13: a stream whose lines end with CR only, in a buffer that has to grow.
func TestStreamOfCarriageReturns(t *testing.T) {
	var sizes []int
	for _, lines := range []int{20_000, 80_000} {
		d := sse.NewDecoder(nil, sse.Limits{})
		d.Feed([]byte(strings.Repeat("data:x\r", lines) + "\r"))
		var ev sse.Event
		if ok, err := d.Next(&ev); !ok || err != nil {
			t.Fatal(ok, err)
		}
		sizes = append(sizes, len(ev.Data))
	}
	if sizes[0] != 2*20_000-1 || sizes[1] != 2*80_000-1 {
		t.Errorf("sizes %d", sizes)
	}
}

// After Reset, no state of the previous stream is left.
func TestReset(t *testing.T) {
	d := sse.NewDecoder(nil, sse.Limits{MaxEvent: 10})
	var ev sse.Event
	d.Feed([]byte("data: 1234567890"))
	if _, err := d.Next(&ev); err == nil {
		t.Fatal("no error")
	}
	d.Reset(nil, sse.Limits{})
	d.Feed([]byte("\xEF\xBB\xBFdata: x\n\n"))
	if ok, err := d.Next(&ev); !ok || err != nil || string(ev.Data) != "x" {
		t.Errorf("%v %v %q", ok, err, ev.Data)
	}
}

// Decoding allocates nothing per event.
func TestNoAllocation(t *testing.T) {
	stream := []byte(strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n", 200))
	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{})
	var ev sse.Event
	out := make([]byte, 0, len(stream))
	allocs := testing.AllocsPerRun(10, func() {
		out = out[:0]
		for rest := stream; len(rest) > 0; {
			n := copy(d.Space(), rest)
			d.Filled(n)
			rest = rest[n:]
			for {
				ok, err := d.Next(&ev)
				if err != nil || !ok {
					break
				}
				out = ev.AppendTo(out)
			}
		}
	})
	if allocs != 0 || !bytes.Equal(out, stream) {
		t.Errorf("%v allocations, %d of %d bytes", allocs, len(out), len(stream))
	}
}

// A stream whose reads fill its buffer gets a pooled one, and returns it when it is slow
// again.
func TestPooledBufferForFastStreams(t *testing.T) {
	lent := false
	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{Pool: new(sse.BufferPool)})
	var ev sse.Event
	var in, out, data []byte
	rng := rand.New(rand.NewPCG(1, 2))
	read := func(n int) {
		for n > 0 {
			space := d.Space()
			lent = lent || len(space) > 8<<10
			n = min(n, len(space))
			for i := range n {
				space[i] = byte("data: 0123456789\r\n\n"[(len(in)+i)%19])
			}
			in = append(in, space[:n]...)
			d.Filled(n)
			n = 0
		}
		for {
			ok, err := d.Next(&ev)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return
			}
			out = ev.AppendTo(out)
			data = append(data, ev.Data...)
		}
	}
	for range 50 {
		read(3000)
	}
	if lent {
		t.Error("a slow stream was lent a buffer")
	}
	for range 50 {
		read(1 << 20)
		if n := len(d.Space()); n > 8<<10 {
			lent = true
			read(100) // the stream is slow again
		}
		if n := len(d.Space()); n > 8<<10 {
			t.Fatalf("a stream that waits has %d bytes", n)
		}
	}
	if !lent {
		t.Error("a fast stream was lent nothing")
	}
	for range 300 {
		read(1 + rng.IntN(40<<10))
	}
	read((19 - len(in)%19) % 19)
	d.Close()
	if !bytes.Equal(in, out) || len(data) != len(in)/19*10 {
		t.Errorf("%d bytes went in, %d came out, with %d of data", len(in), len(out), len(data))
	}
	if n := len(d.Space()); n != 8<<10 {
		t.Errorf("a closed decoder has %d bytes", n)
	}
}

// Proves F13: consecutive large events are read into pooled memory.
func TestPooledBufferForLargeEvents(t *testing.T) {
	var buffers sse.BufferPool
	small, large := "event: x\ndata: small\n\n", "event: x\ndata: "+strings.Repeat("0123456789abcdef", 9000)+"\n\n"
	stream := []byte(strings.Repeat(small+large+large, 3))
	out := make([]byte, 0, 2*len(stream))
	read := func() {
		out = out[:0]
		d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{Pool: &buffers})
		defer d.Close()
		var ev sse.Event
		for rest := stream; len(rest) > 0; {
			n := copy(d.Space(), rest)
			d.Filled(n)
			rest = rest[n:]
			for {
				ok, err := d.Next(&ev)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if string(ev.Type) != "x" {
					t.Fatalf("an event of type %q", ev.Type)
				}
				out = ev.AppendTo(out)
			}
		}
	}
	allocs := testing.AllocsPerRun(20, read)
	if !bytes.Equal(out, stream) || allocs > 6 {
		t.Errorf("%v allocations, %d of %d bytes", allocs, len(out), len(stream))
	}
}

// FuzzDecode compares with the naive decoder, and every split with no split.
func FuzzDecode(f *testing.F) {
	for i, s := range streams {
		f.Add([]byte(s), uint16(i*7))
	}
	f.Add([]byte("\n: c\n\nevent: e\x7f\ndata: b\r\n\r"), uint16(0))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		s := string(stream)
		want, _ := naive(s)
		got, forwarded, tail := decode(t, s)
		if !same(got, want) {
			t.Fatalf("got %q, the oracle says %q", got, want)
		}
		n := int(cut) % (len(s) + 1)
		again, f2, tail2 := decode(t, s[:n], s[n:])
		if !same(again, want) || f2 != forwarded || tail2 != tail {
			t.Fatalf("cut at %d: %q %q %q, want %q %q %q", n, again, f2, tail2, want, forwarded, tail)
		}
		if read, rest := naive(forwarded); rest != "" || fmt.Sprint(types(read)) != fmt.Sprint(types(want)) {
			t.Fatalf("forwarded %q reads %q, want %q", forwarded, read, want)
		}
	})
}

// types omits a type that new framing drops because it has an unsafe character.
func types(ms []message) (out []string) {
	for _, m := range ms {
		if strings.ContainsFunc(m.typ, func(r rune) bool {
			return r < ' ' && r != '\t' || r == '\x7f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
		}) {
			m.typ = ""
		}
		out = append(out, m.typ+"|"+m.data)
	}
	return out
}

func BenchmarkDecode(b *testing.B) {
	event := `data: {"id":"chatcmpl-BxYz0123456789abcdefghij","object":"chat.completion.chunk","created":1743088977,"model":"gpt-4.1-2025-04-14","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"err != nil {\n"}}]},"finish_reason":null}]}` + "\n\n"
	stream := []byte(strings.Repeat(event, 1000))
	buf := make([]byte, 8<<10)
	d := sse.NewDecoder(buf, sse.Limits{})
	var ev sse.Event
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := stream; len(rest) > 0; {
			n := copy(d.Space(), rest)
			d.Filled(n)
			rest = rest[n:]
			for {
				if ok, _ := d.Next(&ev); !ok {
					break
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/event")
}

// Proves F10, F12: at the end of input, the LF of a split CRLF is not a tail.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		want string
	}{
		{"LF of a cut CRLF", []string{"data: x\r\n\r", "\n"}, ""},
		{"behind it", []string{"data: x\r\n\r", "\ndata: y"}, "data: y"},
		{"no LF", []string{"data: x\r\r", "data: y"}, "data: y"},
		{"half a byte order mark", []string{"\xEF\xBB"}, "\xEF\xBB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := sse.NewDecoder(nil, sse.Limits{})
			var ev sse.Event
			for i, p := range c.in {
				d.Feed([]byte(p))
				for ok := i == 0; ok; {
					ok, _ = d.Next(&ev)
				}
			}
			if got := string(d.Tail()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A decoder does not retain the memory of a large event with several lines.
func TestResetAfterLargeEvent(t *testing.T) {
	d := sse.NewDecoder(nil, sse.Limits{})
	var ev sse.Event
	d.Feed([]byte(strings.Repeat("data: 0123456789abcdef\n", 10_000) + "\n"))
	if ok, err := d.Next(&ev); !ok || err != nil || len(ev.Data) != 170_000-1 {
		t.Fatal(ok, err, len(ev.Data))
	}
	d.Reset(nil, sse.Limits{})
	d.Feed([]byte("data: x\ndata: y\n\n"))
	if ok, _ := d.Next(&ev); !ok || string(ev.Data) != "x\ny" || cap(ev.Data) > 64<<10 {
		t.Errorf("%v %q, %d bytes kept", ok, ev.Data, cap(ev.Data))
	}
}
