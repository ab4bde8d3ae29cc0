package jsonstream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

// small writes random values faster than a property draws them: the text in a random spelling, and
// its canonical text.
type small struct {
	rng        *rand.Rand
	text, ours []byte
}

// pieces are parts of strings, each with its possible spellings; the first one is canonical.
var pieces = [][]string{
	{"a"}, {"path"}, {"src/", `src\/`, `\u0073rc/`}, {`\"`, `\u0022`}, {`\\`, `\u005c`, `\u005C`}, {`\n`, `\u000a`, `\u000A`}, {`\t`, `\u0009`},
	{`\u0000`}, {`\u001f`, `\u001F`}, {"\x7f", `\u007f`}, {"é", `\u00e9`, `\u00E9`}, {"中", `\u4e2d`}, {"😀", `\ud83d\ude00`, `\uD83D\uDE00`},
	{"0123456789abcdef"}, {"}"}, {"["}, {":"}, {","}, {"//"},
}

// numbers are literals, which are not changed.
var numbers = []string{"0", "-0", "1", "-1", "1.0", "1e0", "0.1e-9", "9007199254740993", "1E+2", "-12.5e00003", "1e400"}

func (s *small) both(text string) {
	s.text, s.ours = append(s.text, text...), append(s.ours, text...)
}

func (s *small) gap() {
	for range max(0, s.rng.IntN(8)-5) {
		s.text = append(s.text, " \n\t\r"[s.rng.IntN(4)])
	}
}

// str writes a string that begins with start.
func (s *small) str(start string) {
	s.both(`"` + start)
	for range s.rng.IntN(5) {
		p := pieces[s.rng.IntN(len(pieces))]
		s.text = append(s.text, p[s.rng.IntN(len(p))]...)
		s.ours = append(s.ours, p[0]...)
	}
	s.both(`"`)
}

func (s *small) value(depth int) {
	s.gap()
	switch n := s.rng.IntN(10); {
	case depth > 0 && n < 3:
		s.both("{")
		for i := range s.rng.IntN(4) {
			if i > 0 {
				s.both(",")
			}
			s.gap()
			s.str(fmt.Sprint(i)) // so keys are unique
			s.gap()
			s.both(":")
			s.value(depth - 1)
		}
		s.gap()
		s.both("}")
	case depth > 0 && n < 5:
		s.both("[")
		for i := range s.rng.IntN(4) {
			if i > 0 {
				s.both(",")
			}
			s.value(depth - 1)
		}
		s.gap()
		s.both("]")
	case n < 8:
		s.str("")
	case n == 8:
		s.both(numbers[s.rng.IntN(len(numbers))])
	default:
		s.both([]string{"true", "false", "null"}[s.rng.IntN(3)])
	}
	s.gap()
}

// decoded is a handler that always gets decoded text.
type decoded struct{ jsonstream.Handler }

// Proves F043-08, F043-09, F043-10, I2, I8: small documents in random spellings and chunks are
// written in canonical spelling, a scan reads them as the parser does, and both agree after a
// change of any byte. A million of them in the long tier.
func TestSmallDocuments(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	} else if os.Getenv("STOPGATE_LONG") != "" {
		rounds = 1_000_000
	}
	s := small{rng: rand.New(rand.NewPCG(1, 2))}
	var a, b jsonstream.Aggregator
	var p, q jsonstream.Parser
	var d jsonstream.Document
	feed := func(text []byte) error {
		a.Reset()
		p.Reset(&a, jsonstream.Options{})
		b.Reset()
		q.Reset(decoded{&b}, jsonstream.Options{})
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+s.rng.IntN(12))
			_, _ = p.Feed(rest[:n]), q.Feed(rest[:n]) // the error stays
			rest = rest[n:]
		}
		err := p.Close()
		if other := q.Close(); !reflect.DeepEqual(err, other) || !bytes.Equal(a.Bytes(), b.Bytes()) || !slices.Equal(tokens(a.Document().Root()), tokens(b.Document().Root())) {
			t.Fatalf("%s\nis copied as\n%s\n%v\nand decoded it is\n%s\n%v", text, a.Bytes(), err, b.Bytes(), other)
		}
		return err
	}
	for range rounds {
		s.text, s.ours = s.text[:0], s.ours[:0]
		s.value(3)
		if err := feed(s.text); err != nil || !bytes.Equal(a.Bytes(), s.ours) {
			t.Fatalf("%s\nis written as\n%s\nwant\n%s\n%v", s.text, a.Bytes(), s.ours, err)
		}
		if bytes.HasPrefix(s.ours, []byte(`"`)) {
			if text := jsonstream.AppendUnescaped(nil, s.ours[1:len(s.ours)-1]); !jsonstream.IsQuote(s.ours, text) || jsonstream.IsQuote(s.text, text) != bytes.Equal(s.text, s.ours) {
				t.Fatalf("%s is the quote of %q: %t; %s: %t", s.ours, text, jsonstream.IsQuote(s.ours, text), s.text, jsonstream.IsQuote(s.text, text))
			} else if len(text) > 0 {
				at := s.rng.IntN(len(text))
				text[at] ^= 1 << s.rng.IntN(8)
				if want := bytes.Equal(jsonstream.AppendQuote(nil, text), s.ours); jsonstream.IsQuote(s.ours, text) != want {
					t.Fatalf("%s is the quote of %q: %t", s.ours, text, !want)
				}
			}
		}
		if err := d.Scan(s.text, jsonstream.Options{}); err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
		if jsonstream.HashCanonical(d.Root()) != jsonstream.HashCanonical(a.Document().Root()) {
			t.Fatalf("%s: two values", s.text)
		}
		s.text[s.rng.IntN(len(s.text))] = "\"\\{}[],:0127a \n\xFF"[s.rng.IntN(15)]
		parsed, scanned := feed(s.text), d.Scan(s.text, jsonstream.Options{})
		if !reflect.DeepEqual(parsed, scanned) {
			t.Fatalf("%s: the parser says %v, a scan %v", s.text, parsed, scanned)
		}
		if parsed == nil && !bytes.Equal(jsonstream.AppendCanonical(nil, d.Root()), jsonstream.AppendCanonical(nil, a.Document().Root())) {
			t.Fatalf("%s: two values", s.text)
		}
	}
}
