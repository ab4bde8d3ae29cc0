package jsonstream_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves F043-08, F043-10: random values in random chunks, as lines of the fragment protocol
// and back, are the value that the parser itself aggregates; so is each value on the way.
func TestFragmentsReassemble(t *testing.T) {
	check(t, func(t *rapid.T) {
		doc := documents(3).Draw(t, "document")
		var sent bytes.Buffer
		var direct jsonstream.Aggregator
		var received jsonstream.FragmentAggregator
		received.Options = generous
		w := &jsonstream.FragmentWriter{Index: 2, Call: "c", Tool: "t", Emit: func(f *jsonstream.Fragment) bool {
			line := f.AppendJSON(nil)
			sent.Write(line)
			read, err := jsonstream.ParseFragment(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if read.Index != 2 || read.Call != "c" || read.Tool != "t" || string(read.Append(nil)) != string(f.Append(nil)) {
				t.Fatalf("%s is read as %s", line, read.Append(nil))
			}
			v, err := received.Add(&read)
			if err != nil {
				t.Fatalf("%s: %v in\n%s", line, err, &sent)
			}
			if v.IsValid() != (f.Kind == jsonstream.End) {
				t.Fatalf("%s: a value is complete: %v", line, v.IsValid())
			}
			return false
		}}
		text := []byte(doc.text)
		p, q := jsonstream.NewParser(w, generous), jsonstream.NewParser(&direct, generous)
		for from := 0; from < len(text); {
			n := rapid.IntRange(1, min(len(text)-from, 40)).Draw(t, "chunk")
			if err := errors.Join(p.Feed(text[from:from+n]), q.Feed(text[from:from+n])); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			from += n
		}
		if err := errors.Join(p.Close(), q.Close()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(received.Bytes(), direct.Bytes()) {
			t.Fatalf("%s\nas fragments\n%sis\n%s", direct.Bytes(), &sent, received.Bytes())
		}
	})
}

// Proves F043-08: the values that an aggregator reports on the way, and that a value counts
// only when its call is complete.
func TestFragmentAggregator(t *testing.T) {
	var a jsonstream.FragmentAggregator
	for _, step := range []struct{ line, value string }{
		{`{"index":0,"path":["paths",0],"string":"src/"}`, ""},
		{`{"index":0,"path":["paths",0],"string":"a.go"}`, ""},
		{`{"index":0,"path":["paths",0],"done":"string"}`, `"src/a.go"`},
		{`{"index":0,"path":["paths"],"done":"array"}`, `["src/a.go"]`},
		{`{"index":0,"path":["n"],"scalar":1.50}`, ""},
		{`{"index":0,"path":["n"],"done":"scalar"}`, `1.50`},
		{`{"index":0,"path":["none"],"done":"object"}`, `{}`},
	} {
		f, err := jsonstream.ParseFragment([]byte(step.line))
		if err != nil {
			t.Fatal(err)
		}
		v, err := a.Add(&f)
		if err != nil || v.IsValid() != (step.value != "") || v.IsValid() && string(v.Raw()) != step.value {
			t.Errorf("%s: %v, %v, want %s", step.line, v, err, step.value)
		}
		if a.Bytes() != nil {
			t.Errorf("%s: complete", step.line)
		}
	}
	if v, err := a.Add(&jsonstream.Fragment{Kind: jsonstream.End, Ended: jsonstream.Object}); err != nil || !v.IsValid() {
		t.Error(err)
	}
	if got := string(a.Bytes()); got != `{"paths":["src/a.go"],"n":1.50,"none":{}}` {
		t.Error(got)
	}
}

// Proves F043-08: sequences that no writer produces are refused, and the refusal is final.
func TestFragmentAggregatorRefuses(t *testing.T) {
	for _, tt := range []struct{ name, lines string }{
		{"an element is missing", `{"index":0,"path":[0],"scalar":1} {"index":0,"path":[0],"done":"scalar"} {"index":0,"path":[2],"scalar":1}`},
		{"an array begins at 1", `{"index":0,"path":[1],"scalar":1}`},
		{"an array becomes an object", `{"index":0,"path":[0],"scalar":1} {"index":0,"path":[0],"done":"scalar"} {"index":0,"path":["a"],"scalar":1}`},
		{"a value without its end", `{"index":0,"path":["a"],"scalar":1} {"index":0,"path":["b"],"scalar":1}`},
		{"two scalars", `{"index":0,"path":["a"],"scalar":1} {"index":0,"path":["a"],"scalar":1}`},
		{"a string behind a scalar", `{"index":0,"path":["a"],"scalar":1} {"index":0,"path":["a"],"string":"1"}`},
		{"another end", `{"index":0,"path":["a"],"string":"x"} {"index":0,"path":["a"],"done":"scalar"}`},
		{"another container", `{"index":0,"path":["a"],"done":"object"} {"index":0,"path":[],"done":"array"}`},
		{"an end of what has not begun", `{"index":0,"path":["a"],"done":"scalar"}`},
		{"a container that is not complete", `{"index":0,"path":["a",0],"string":"x"} {"index":0,"path":["a"],"done":"array"}`},
		{"text in a container", `{"index":0,"path":["a",0],"done":"array"} {"index":0,"path":["a"],"string":"x"}`},
		{"a repeated key", `{"index":0,"path":["a"],"done":"object"} {"index":0,"path":["a"],"done":"object"}`},
		{"a repeated key further up", `{"index":0,"path":["a"],"done":"object"} {"index":0,"path":["b"],"done":"object"} {"index":0,"path":["a"],"done":"object"}`},
		{"data behind the root", `{"index":0,"path":[],"done":"object"} {"index":0,"path":[],"done":"object"}`},
		{"an error", `{"index":0,"path":["a"],"done":"object"} {"index":0,"error":{"code":"duplicate_key","offset":9,"pointer":"/a","detail":"a key is there twice"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a jsonstream.FragmentAggregator
			lines := strings.Split(tt.lines, "} {")
			for i, line := range lines {
				if i > 0 {
					line = "{" + line
				}
				if i < len(lines)-1 {
					line += "}"
				}
				f, err := jsonstream.ParseFragment([]byte(line))
				if err != nil {
					t.Fatal(err)
				}
				if _, err = a.Add(&f); (err != nil) != (i == len(lines)-1) {
					t.Fatalf("%s: %v", line, err)
				}
			}
			if v, err := a.Add(&jsonstream.Fragment{Kind: jsonstream.End, Ended: jsonstream.Object}); err == nil || v.IsValid() || a.Bytes() != nil {
				t.Errorf("goes on: %v", err)
			}
		})
	}
}

// Proves F043-08: lines that are not of the protocol are refused.
func TestParseFragmentRefuses(t *testing.T) {
	for _, line := range []string{
		``, `[]`, `{}`, `{"index":0}`, `{"index":0,"path":[]}`, `{"index":-1,"path":[],"string":""}`, `{"index":1.0,"path":[],"string":""}`, `{"path":[],"string":""}`,
		`{"index":0,"string":"a"}`, `{"index":0,"path":[],"string":1}`, `{"index":0,"path":[],"scalar":"a"}`, `{"index":0,"path":[],"scalar":{}}`,
		`{"index":0,"path":[],"done":"number"}`, `{"index":0,"path":[],"done":"string","string":"a"}`, `{"index":0,"path":[true],"string":"a"}`, `{"index":0,"path":[-1],"string":"a"}`,
		`{"index":0,"path":[],"error":{"code":"duplicate_key"}}`, `{"index":0,"error":{"code":"Not a code"}}`, `{"index":0,"error":{"why":"x"}}`, `{"index":0,"error":1}`,
		`{"index":0,"path":[],"string":"a","more":1}`, `{"index":0,"index":1,"path":[],"string":"a"}`, `{"index":0,"path":[],"string":"a"} x`,
	} {
		if f, err := jsonstream.ParseFragment([]byte(line)); err == nil {
			t.Errorf("%s is read as %s", line, f.Append(nil))
		}
	}
}

// Proves F043-07, F043-09, D26-21: the test vectors of the protocol: calls interleaved by index,
// each with its own end, and what is discarded.
func TestFragmentVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/fragments/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string]string{}
			for _, f := range archive.Files {
				part[f.Name] = string(f.Data)
			}
			got := muxed(t, part["chunks"])
			if got != part["fragments.jsonl"] {
				t.Errorf("fragments\n%swant\n%s", got, part["fragments.jsonl"])
			}
			if got := demuxed(t, part["fragments.jsonl"]); got != part["values"] {
				t.Errorf("values\n%swant\n%s", got, part["values"])
			}
		})
	}
}

// muxed runs the lines of a vector: "open INDEX CALL TOOL", "feed INDEX QUOTED", "discard
// INDEX" and "close INDEX".
func muxed(t *testing.T, steps string) string {
	var out []byte
	m := jsonstream.FragmentMux{Emit: func(f *jsonstream.Fragment) bool { out = f.AppendJSON(out); return false }}
	for line := range strings.Lines(steps) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		number, rest, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(line, err)
		}
		switch verb {
		case "open":
			call, tool, _ := strings.Cut(rest, " ")
			if err := m.Open(i, stopgate.CallID(call), stopgate.ToolName(tool)); err != nil {
				t.Fatal(err)
			}
		case "feed":
			chunk, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatal(line, err)
			}
			_ = m.Feed(i, []byte(chunk))
		case "discard":
			m.Discard(i)
		case "close":
			_ = m.Close(i)
		default:
			t.Fatal(line)
		}
	}
	return string(out)
}

// demuxed aggregates the lines of a vector and lists the calls that are complete or refused.
func demuxed(t *testing.T, lines string) string {
	var out strings.Builder
	calls := map[int]*jsonstream.FragmentAggregator{}
	for line := range strings.Lines(lines) {
		f, err := jsonstream.ParseFragment([]byte(line))
		if err != nil {
			t.Fatal(line, err)
		}
		a := calls[f.Index]
		if a == nil {
			a = new(jsonstream.FragmentAggregator)
			calls[f.Index] = a
		}
		if _, err := a.Add(&f); err != nil {
			out.WriteString(strconv.Itoa(f.Index) + " " + err.Error() + "\n")
		} else if text := a.Bytes(); text != nil {
			out.WriteString(strconv.Itoa(f.Index) + " " + string(text) + "\n")
		}
	}
	return out.String()
}

// An index is open once at a time, and the number of open calls is limited.
func TestFragmentMuxRefuses(t *testing.T) {
	var m jsonstream.FragmentMux
	if m.Feed(0, nil) == nil || m.Close(0) == nil || m.Open(-1, "", "") == nil {
		t.Error("a call that is not open")
	}
	for i := range 1024 {
		if err := m.Open(i, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if m.Open(0, "", "") == nil || m.Open(1024, "", "") == nil {
		t.Error("opened")
	}
	if err := m.Feed(3, []byte(`{"a":1}`)); err != nil || m.Close(3) != nil || m.Open(3, "", "") != nil {
		t.Error("a call that has ended makes room", err)
	}
}
