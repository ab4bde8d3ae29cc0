package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves S8: the first watched member that is a complete string is known at its closing quotation
// mark, whatever the chunks, and members of other types, of inner objects or of great length are
// not reported.
func TestWatched(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for _, c := range []struct{ args, at, value string }{
		{`{"a":1,"path":"src/x","file":"y"}`, `{"a":1,"path":"src/x"`, `"src/x"`},
		{`{"file":"a\"b","path":"c"}`, `{"file":"a\"b"`, `"a\"b"`},
		{`{"in":{"path":"no"},"list":["file","x"],"path":"yes"}`, `{"in":{"path":"no"},"list":["file","x"],"path":"yes"`, `"yes"`},
		{`{"path":7,"file":["x"]}`, "", ""},
		{`{"path":"` + long + `","file":"b"}`, `{"path":"` + long + `","file":"b"`, `"b"`},
	} {
		b := compile(t, "version = 1\n[tools.f.policy]\nrun = \"unattended\"\n").Bind(stopgate.Call{Tool: "f"})
		e := new(eval.Evaluation)
		e.Reset(b)
		e.Watch([]jsonstream.Pointer{{"path"}, {"file"}})
		at := ""
		for i := range len(c.args) {
			e.Feed([]byte(c.args[i : i+1]))
			if _, _, ok := e.Watched(); ok && at == "" {
				at = c.args[:i+1]
			}
		}
		_, value, _ := e.Watched()
		if at != c.at || string(value) != c.value {
			t.Errorf("%.40s: %q at %q", c.args, value, at)
		}
		e.Reset(b)
		e.Feed([]byte(`{"path":"x"}`))
		if _, _, ok := e.Watched(); ok {
			t.Error("Reset keeps watching")
		}
	}
}
