package arguments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agent/arguments"
)

// show formats the state of the parameters in one line.
func show(a *arguments.Arguments) string {
	var parts []string
	for _, p := range a.Parameters() {
		if p.Complete() {
			parts = append(parts, p.Name+"="+p.JSON)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s... %d %q", p.Name, p.Bytes, p.Tail))
	}
	return strings.Join(parts, ", ")
}

// Proves D26-16, S7: the state of the parameters after every chunk.
func TestArgumentsWhileTheyArrive(t *testing.T) {
	for _, test := range []struct{ text, params, object string }{
		{``, ``, `{}`},
		{`{"pa`, ``, `{}`},
		{`{"path"`, `path... 0 ""`, `{}`},
		{`{"path":"src/ma`, `path... 6 "src/ma"`, `{}`},
		{`{"path":"src/main.rs"`, `path="src/main.rs"`, `{"path":"src/main.rs"}`},
		{`{"path":"a","content":"x\ny`, `path="a", content... 3 "x\ny"`, `{"path":"a"}`},
		{`{"n": 12 ,"all":tr`, `n=12, all... 0 ""`, `{"n":12}`},
		{`{"patterns":[{"old":"a","new":"b`, `patterns... 20 "ab"`, `{}`},
		{`{"patterns":[{"old":"a"}],"x":null}`, `patterns=[{"old":"a"}], x=null`, `{"patterns":[{"old":"a"}],"x":null}`},
		{`{"a":1,"a":2}`, `a=1`, `{"a":1}`},
		{`{"a":1,]`, `a=1`, `{"a":1}`},
		{`[1]`, ``, `{}`},
	} {
		t.Run(test.text, func(t *testing.T) {
			var whole, cut arguments.Arguments
			whole.Feed([]byte(test.text))
			for i := range len(test.text) {
				cut.Feed([]byte(test.text[i : i+1]))
			}
			if got := show(&whole); got != test.params {
				t.Errorf("parameters are %s, want %s", got, test.params)
			}
			if got := whole.Object(); got != test.object {
				t.Errorf("object is %s, want %s", got, test.object)
			}
			if show(&cut) != show(&whole) || cut.Object() != whole.Object() || cut.Received() != int64(len(test.text)) {
				t.Errorf("byte by byte it is %s %s", show(&cut), cut.Object())
			}
		})
	}
}

func TestLongValuesAreKeptInPart(t *testing.T) {
	var a arguments.Arguments
	a.Feed([]byte(`{"content":"` + strings.Repeat("ü", 4000)))
	p := a.Parameters()[0]
	if p.Bytes != 8000 || len(p.Head) != arguments.Kept || len(p.Tail) != arguments.Kept || !p.Text || len(a.Streaming()) != 8000 {
		t.Errorf("%d bytes, head %d, tail %d", p.Bytes, len(p.Head), len(p.Tail))
	}
	a.Feed([]byte(`"}`))
	if !a.IsComplete() || len(a.Object()) != len(`{"content":""}`)+8000 {
		t.Error("not whole")
	}
}
