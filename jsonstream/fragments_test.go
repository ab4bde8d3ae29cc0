package jsonstream_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves F043-01, F043-02, F043-03, F043-04, F043-05, F043-06.
func TestFragments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"two chunks", []string{`{"path":"/tmp/foo.rs","content":"fn main(`, `) {...}"}`}, lines(
			`ObjectEntry{path: String("/tmp/foo.rs")}`, `ObjectEntry{path: Done}`,
			`ObjectEntry{content: String("fn main(")}`, `ObjectEntry{content: String(") {...}")}`, `ObjectEntry{content: Done}`,
			`Done`)},
		{"nested", []string{`{"patterns":[{"paths":["src/a"]},{"paths":[]}]}`}, lines(
			`ObjectEntry{patterns: ArrayItem{0, ObjectEntry{paths: ArrayItem{0, String("src/a")}}}}`,
			`ObjectEntry{patterns: ArrayItem{0, ObjectEntry{paths: ArrayItem{0, Done}}}}`,
			`ObjectEntry{patterns: ArrayItem{0, ObjectEntry{paths: Done}}}`,
			`ObjectEntry{patterns: ArrayItem{0, Done}}`,
			`ObjectEntry{patterns: ArrayItem{1, ObjectEntry{paths: Done}}}`,
			`ObjectEntry{patterns: ArrayItem{1, Done}}`,
			`ObjectEntry{patterns: Done}`,
			`Done`)},
		{"scalars", []string{`[1`, `.5,tr`, `ue,false,null,"a"]`}, lines(
			`ArrayItem{0, Scalar(1.5)}`, `ArrayItem{0, Done}`, `ArrayItem{1, Scalar(true)}`, `ArrayItem{1, Done}`,
			`ArrayItem{2, Scalar(false)}`, `ArrayItem{2, Done}`, `ArrayItem{3, Scalar(null)}`, `ArrayItem{3, Done}`,
			`ArrayItem{4, String("a")}`, `ArrayItem{4, Done}`, `Done`)},
		{"string root, cut escape and character", []string{`"a\`, "nb\xc3", "\xa9", `\ud83d`, `\ude00"`}, lines(
			`String("a")`, `String("\nb")`, `String("é")`, `String("😀")`, `Done`)},
		{"empty containers have no fragment but Done", []string{`{"a":{},"b":[]}`}, lines(`ObjectEntry{a: Done}`, `ObjectEntry{b: Done}`, `Done`)},
		{"empty string", []string{`{"a":"`, `"}`}, lines(`ObjectEntry{a: String("")}`, `ObjectEntry{a: Done}`, `Done`)},
		{"no empty piece behind a piece", []string{`"ab`, `"`}, lines(`String("ab")`, `Done`)},
		{"keys that need quotes", []string{`{"":1,"a b":2,"\n":3,"A-z_0":4}`}, lines(
			`ObjectEntry{"": Scalar(1)}`, `ObjectEntry{"": Done}`, `ObjectEntry{"a b": Scalar(2)}`, `ObjectEntry{"a b": Done}`,
			`ObjectEntry{"\n": Scalar(3)}`, `ObjectEntry{"\n": Done}`, `ObjectEntry{A-z_0: Scalar(4)}`, `ObjectEntry{A-z_0: Done}`, `Done`)},
		{"root number", []string{`12`}, lines(`Scalar(12)`, `Done`)},
		{"what came before an error stays", []string{`{"a":"b","a":1}`}, lines(`ObjectEntry{a: String("b")}`, `ObjectEntry{a: Done}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w jsonstream.FragmentWriter
			p := jsonstream.NewParser(&w, jsonstream.Options{})
			for _, chunk := range tt.chunks {
				p.Feed([]byte(chunk))
				w.Flush()
			}
			p.Close()
			if got := w.String(); got != tt.want {
				t.Errorf("fragments\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// Proves F043-07: a fragment has its call and tool, and they are not kept after it.
func TestFragmentsCarryTheCall(t *testing.T) {
	var got []string
	w := &jsonstream.FragmentWriter{Call: "call_1", Tool: "fs_write", Emit: func(f *jsonstream.Fragment) bool {
		got = append(got, string(f.Call)+" "+string(f.Tool)+" "+string(f.Append(nil)))
		return len(got) == 3
	}}
	p := jsonstream.NewParser(w, jsonstream.Options{})
	if err := p.Feed([]byte(`{"a":1,"b":"x`)); err != nil {
		t.Fatal(err)
	}
	if p.Stopped() || len(got) != 2 || !w.Flush() {
		t.Errorf("fragments %q", got)
	}
	want := []string{"call_1 fs_write ObjectEntry{a: Scalar(1)}", "call_1 fs_write ObjectEntry{a: Done}", `call_1 fs_write ObjectEntry{b: String("x")}`}
	if !slices.Equal(got, want) || w.String() != "" {
		t.Errorf("fragments %q, want %q", got, want)
	}
}

// Proves K7: a receiver can stop the parser at each fragment.
func TestFragmentsStop(t *testing.T) {
	const text = `{"a":"x","b":[1,true]} garbage`
	for stopAt := 1; stopAt <= 8; stopAt++ {
		n := 0
		w := &jsonstream.FragmentWriter{Emit: func(*jsonstream.Fragment) bool { n++; return n == stopAt }}
		p := jsonstream.NewParser(w, jsonstream.Options{})
		if err := p.Feed([]byte(text)); err != nil || !p.Stopped() || n != stopAt {
			t.Errorf("stopped at %d: %v, %d fragments", stopAt, err, n)
		}
	}
}

// Proves F043-07: the names of kinds and the text of errors are stable.
func TestNames(t *testing.T) {
	if got := jsonstream.StringPart.String() + ", " + jsonstream.Kind(99).String() + ", " + jsonstream.Kind(0).String(); got != "string part, invalid, invalid" {
		t.Error(got)
	}
	err := &jsonstream.Error{Code: stopgate.CodeDuplicateKey, Offset: 10, Pointer: "/a\nb", Detail: "a key is there twice"}
	if got := err.Error(); got != `json: a key is there twice at byte 10, in "/a\nb" (duplicate_key)` {
		t.Error(got)
	}
}
