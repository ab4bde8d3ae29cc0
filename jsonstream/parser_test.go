package jsonstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves F043-02, F043-03, F043-04, F043-05, F043-06, F043-09, I2.
// The expected traces were counted by hand.
func TestEventsAndOffsets(t *testing.T) {
	tests := []struct {
		name, text, trace string
	}{
		{"object", `{"a":1,"b":[true]}`, lines(
			`1 object start ""`, `4 key "a"`, `7 number "1"`, `10 key "b"`, `12 array start ""`,
			`17 true ""`, `17 array end ""`, `18 object end ""`, `18 end ""`)},
		{"string", `"aé😀"`, lines(
			`1 string start ""`, `2 'a' false`, `4 'é' false`, `8 '😀' false`, `9 string end ""`, `9 end ""`)},
		{"escapes", `"\n\u00e9\ud83d\ude00\/"`, lines(
			`1 string start ""`, `3 '\n' true`, `9 'é' true`, `21 '😀' true`, `23 '/' true`, `24 string end ""`, `24 end ""`)},
		{"all short escapes", `"\"\\\/\b\f\n\r\t"`, lines(
			`1 string start ""`, `3 '"' true`, `5 '\\' true`, `7 '/' true`, `9 '\b' true`, `11 '\f' true`,
			`13 '\n' true`, `15 '\r' true`, `17 '\t' true`, `18 string end ""`, `18 end ""`)},
		{"widest characters", "\"\u07ff\u0800\uffff\U0010ffff\x7f\u2028\"", lines(
			`1 string start ""`, `3 '߿' false`, `6 'ࠀ' false`, `9 '\uffff' false`, `13 '\U0010ffff' false`,
			`14 '\x7f' false`, `17 '\u2028' false`, `18 string end ""`, `18 end ""`)},
		{"all shapes of four bytes", "\"\U00010000\U00040000\U000c0000\U00100000\"", lines(
			`1 string start ""`, `5 '𐀀' false`, `9 '\U00040000' false`, `13 '\U000c0000' false`, `17 '\U00100000' false`, `18 string end ""`, `18 end ""`)},
		{"upper case escape", `"\u00C9\uD83D\uDE00\uFFFF\uD7ff\ue000"`, lines(
			`1 string start ""`, `7 'É' true`, `19 '😀' true`, `25 '\uffff' true`, `31 '\ud7ff' true`, `37 '\ue000' true`,
			`38 string end ""`, `38 end ""`)},
		{"empty containers", ` { "a" : [ ] , "b" : { } } `, lines(
			`2 object start ""`, `6 key "a"`, `10 array start ""`, `12 array end ""`, `18 key "b"`, `22 object start ""`,
			`24 object end ""`, `26 object end ""`, `26 end ""`)},
		{"key with escapes", `{"\u0061\n":""}`, lines(
			`1 object start ""`, `11 key "a\n"`, `13 string start ""`, `14 string end ""`, `15 object end ""`, `15 end ""`)},
		{"empty key", `{"":null}`, lines(`1 object start ""`, `3 key ""`, `9 null ""`, `9 object end ""`, `9 end ""`)},
		{"root number ends with the text", `-12.50e+3`, lines(`9 number "-12.50e+3"`, `9 end ""`)},
		{"root number ends with a space", `0 `, lines(`2 number "0"`, `2 end ""`)},
		{"root name ends with the text", `false`, lines(`5 false ""`, `5 end ""`)},
		{"root name ends with a line", "null\n\n", lines(`5 null ""`, `5 end ""`)},
		{"numbers", `[0,-0,1.5,1e9,1E-9 ,0.0e+0]`, lines(
			`1 array start ""`, `3 number "0"`, `6 number "-0"`, `10 number "1.5"`, `14 number "1e9"`, `19 number "1E-9"`,
			`27 number "0.0e+0"`, `27 array end ""`, `27 end ""`)},
		{"names", `[true,false,null]`, lines(
			`1 array start ""`, `6 true ""`, `12 false ""`, `17 null ""`, `17 array end ""`, `17 end ""`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := everyWay(t, tt.text, jsonstream.Options{})
			if got.err != "" || got.trace != tt.trace {
				t.Errorf("%s: error %q, trace\n%s\nwant\n%s", tt.text, got.err, got.trace, tt.trace)
			}
		})
	}
}

// Proves F043-03: text split by a chunk border is held back, everything else is reported with its
// chunk, as a part of the chunk itself.
func TestPartsOfChunk(t *testing.T) {
	type part struct {
		text    string
		offset  int64
		escaped bool
	}
	tests := []struct {
		name   string
		chunks []string
		parts  [][]part // of each chunk
	}{
		{"run in two chunks", []string{`"ab`, `cd"`}, [][]part{{{"ab", 3, false}}, {{"cd", 5, false}}}},
		{"cut character", []string{"\"ab\xf0\x9f", "\x98", "\x80cd\""}, [][]part{{{"ab", 3, false}}, {}, {{"😀", 7, false}, {"cd", 9, false}}}},
		{"cut escape", []string{`"ab\`, `ncd"`}, [][]part{{{"ab", 3, false}}, {{"\n", 5, true}, {"cd", 7, false}}}},
		{"cut pair", []string{`"\ud83d\ud`, `e00x"`}, [][]part{{}, {{"😀", 13, true}, {"x", 14, false}}}},
		{"each escape is a part", []string{`"a\n\tb"`}, [][]part{{{"a", 2, false}, {"\n", 4, true}, {"\t", 6, true}, {"b", 7, false}}}},
		{"text before a fault", []string{"\"ab\x01"}, [][]part{{{"ab", 3, false}}}},
		{"text before a wrong byte", []string{"\"ab\xff"}, [][]part{{{"ab", 3, false}}}},
		{"text before a wrong escape", []string{`"ab\x`}, [][]part{{{"ab", 3, false}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []part
			p := jsonstream.NewParser(handler(func(e *jsonstream.Event) bool {
				if e.Kind == jsonstream.StringPart {
					got = append(got, part{string(e.Text), e.Offset, e.Escaped})
				}
				return false
			}), jsonstream.Options{})
			for i, chunk := range tt.chunks {
				got = nil
				p.Feed([]byte(chunk))
				if len(got) != len(tt.parts[i]) {
					t.Fatalf("chunk %d: %v, want %v", i, got, tt.parts[i])
				}
				for j := range got {
					if got[j] != tt.parts[i][j] {
						t.Errorf("chunk %d: %v, want %v", i, got, tt.parts[i])
					}
				}
			}
		})
	}
}

// handler converts a function to a Handler.
type handler func(*jsonstream.Event) bool

func (h handler) Event(e *jsonstream.Event) bool { return h(e) }

// Proves F043-03: verbatim text is not copied.
func TestRunsAreSlicesOfTheChunk(t *testing.T) {
	chunk := []byte(`"hello world"`)
	p := jsonstream.NewParser(handler(func(e *jsonstream.Event) bool {
		if e.Kind == jsonstream.StringPart && &e.Text[0] != &chunk[1] {
			t.Error("the run was copied")
		}
		return false
	}), jsonstream.Options{})
	if err := p.Feed(chunk); err != nil {
		t.Fatal(err)
	}
}

// Proves K7: the first terminal event in byte order wins. A handler that stops receives no further
// event, and no error after its byte.
func TestStop(t *testing.T) {
	for _, text := range []string{
		`{"path":".env\n","n":[1,true,{}],"s":"é"} garbage`, `{"a":1,"a":2}`, `12`, `null`, `[[[`, "\"a\xff\"", `{"a":"\u0041\ud800"}`,
	} {
		whole := &recorder{t: t}
		pushTo(whole, text, jsonstream.Options{})
		for stopAt := 1; stopAt <= whole.events; stopAt++ {
			for _, cuts := range [][]int{nil, byteByByte(text)} {
				r := &recorder{t: t, stopAt: stopAt}
				p := jsonstream.NewParser(r, jsonstream.Options{})
				from := 0
				for _, cut := range append(cuts, len(text)) {
					if err := p.Feed([]byte(text[from:cut])); err != nil {
						t.Fatalf("%s: stopped at event %d, then %v", text, stopAt, err)
					}
					from = cut
				}
				if err := p.Close(); err != nil {
					t.Fatalf("%s: stopped at event %d, then %v", text, stopAt, err)
				}
				if len(cuts) == 0 && r.events != stopAt || r.events < stopAt && !p.Stopped() {
					t.Fatalf("%s: %d events although stopped at %d", text, r.events, stopAt)
				}
				if p.Stopped() && p.Offset() != r.last {
					t.Fatalf("%s: offset %d, the stopping event was at %d", text, p.Offset(), r.last)
				}
				if !strings.HasPrefix(string(whole.trace), string(r.trace)) {
					t.Fatalf("%s: stopped at %d: %s", text, stopAt, r.trace)
				}
			}
		}
	}
}

// Proves I7: the zero parser refuses all input.
func TestZeroParser(t *testing.T) {
	for _, p := range []*jsonstream.Parser{new(jsonstream.Parser), jsonstream.NewParser(nil, jsonstream.Options{})} {
		for _, err := range []error{p.Feed([]byte(`{}`)), p.Close(), p.Err()} {
			if got := describe(err); got.code != stopgate.CodeMalformedArguments {
				t.Errorf("a zero parser answers %v", err)
			}
		}
		if p.Stopped() || p.Offset() != 0 {
			t.Error("a zero parser has moved")
		}
	}
}

// Proves I2: a reset parser has no state of an earlier text.
func TestReset(t *testing.T) {
	texts := []string{
		`{"a":{"b":[1,2`, `{"k":"\ud83d`, "{\"k\":\"\xe2\x82", `[12`, `[tru`, `{"a":1,"a":2}`, `{"a":"b"}`, `nullx`, `[[[`,
		`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0`,
		`{"` + strings.Repeat("k", 1<<20),
	}
	r := &recorder{t: t}
	p := jsonstream.NewParser(r, jsonstream.Options{})
	for _, before := range texts {
		for _, text := range texts {
			*r = recorder{t: t}
			p.Reset(r, jsonstream.Options{})
			p.Feed([]byte(before))
			*r = recorder{t: t}
			p.Reset(r, jsonstream.Options{})
			p.Feed([]byte(text))
			got, want := describe(p.Close()), push(t, text, jsonstream.Options{})
			if got.err != want.err || string(r.trace) != want.trace {
				t.Errorf("%.40q behind %.40q: %s %s", text, before, got.err, r.trace)
			}
		}
	}
}

// Proves A18: a parser that has seen very many keys frees their memory, and continues.
func TestResetAfterManyKeys(t *testing.T) {
	many := []byte("{")
	for i := range 150_000 {
		many = fmt.Appendf(many, `"%x":0,`, i)
	}
	many = append(many, `"0":0}`...)
	var p jsonstream.Parser
	var d jsonstream.Document
	for _, text := range []string{string(many), `{"a":1}`, string(many[:len(many)-7]) + "}"} {
		p.Reset(ignore{}, generous)
		p.Feed([]byte(text))
		got, scanned := describe(p.Close()), describe(d.Scan([]byte(text), generous))
		want := outcome{}
		if strings.HasSuffix(text, `"0":0}`) {
			want = outcome{code: duplicate, at: int64(len(text)) - 3}
		}
		if got.code != want.code || got.at != want.at || scanned != got {
			t.Errorf("%d bytes: %+v, scanned %+v", len(text), got, scanned)
		}
	}
}
