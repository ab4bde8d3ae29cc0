package eval_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// project has the directories that paths are resolved against.
var project = condition.Env{Root: "/srv/proj", Home: "/home/u"}

// compile compiles one trusted file.
func compile(tb testing.TB, text string) *eval.Policies {
	tb.Helper()
	return prepare(tb, project, gen.File{Name: "stopgate.toml", Text: text, Trusted: true})
}

// layers compiles several files; a project's file begins with a line that marks it.
func layers(tb testing.TB, env condition.Env, texts ...string) *eval.Policies {
	tb.Helper()
	var files []gen.File
	for i, text := range texts {
		rest, untrusted := strings.CutPrefix(text, "project\n")
		name := map[bool]string{false: "user", true: "project"}[untrusted] + strconv.Itoa(i)
		files = append(files, gen.File{Name: name, Text: "version = 1\n" + rest, Trusted: !untrusted})
	}
	return prepare(tb, env, files...)
}

// prepare parses files that check may reject: the evaluator must also be correct for unreachable
// rules.
func prepare(tb testing.TB, env condition.Env, files ...gen.File) *eval.Policies {
	tb.Helper()
	var all []*eval.Layer
	for _, f := range files {
		file, list := parser.Parse(kinds.Table(), f.Name, []byte(f.Text))
		if list.HasErrors() {
			tb.Fatalf("%v\n%s", list, f.Text)
		}
		all = append(all, &eval.Layer{File: file, Trusted: f.Trusted, Env: file.Environment(env)})
	}
	return eval.New(all, stopgate.Deny)
}

// judgement is one row of a table: a policy, a call and the expected verdict.
type judgement struct {
	name       string
	policy     string
	definition string // JSON Schema that comes with the call; "" for none
	args       string
	end        stopgate.End // Ended unless another one is given
	// want is "mode code", with " rule N" where one decided.
	want string
	// upto is the prefix of args after which the verdict is known, all of args if it is empty.
	upto    string
	pointer string
	release string // released bytes; not checked if empty
}

// fileTool is the tool of most rows: the one of D25 and D26.
const fileTool = `version = 1
[tools.fs_modify_file.parameters.path]
type = "path"
[tools.fs_modify_file.parameters.content]
type = "string"
[tools.fs_modify_file.parameters.mode]
type = "string"
[tools.fs_modify_file.parameters.n]
type = "number"
[tools.fs_modify_file.parameters.patterns]
type = "array"
items = { type = "object", properties = { paths = { type = "array", items = { type = "path" } }, old = { type = "string" } } }
[tools.fs_modify_file.policy]
`

// rules returns a policy for fileTool.
func rules(list ...string) string {
	return fileTool + "run = [\n  { " + strings.Join(list, " },\n  { ") + " },\n]\n"
}

func (j judgement) run(t *testing.T) {
	t.Helper()
	p := compile(t, j.policy)
	c := stopgate.Call{Tool: "fs_modify_file"}
	if j.definition != "" {
		c.Definition = &stopgate.ToolDefinition{Name: c.Tool, Schema: []byte(j.definition)}
	}
	b := p.Bind(c)
	for _, size := range []int{len(j.args) + 1, 1, 3} {
		e := b.Evaluate()
		for text := j.args; len(text) > 0; {
			n := min(size, len(text))
			e.Feed([]byte(text[:n]))
			text = text[n:]
		}
		end := j.end
		if end == stopgate.Failed {
			end = stopgate.Ended
		}
		v := e.Close(end)
		if got := brief(v); got != j.want {
			t.Fatalf("got %s, want %s\n%s", got, j.want, spellAll(e.Trace(), spell))
		}
		upto := len(j.upto)
		switch {
		case j.upto == "":
			upto = len(j.args)
		case j.upto == nothing:
			upto = 0
		case !strings.HasPrefix(j.args, j.upto):
			t.Fatalf("upto %q is no beginning of %q", j.upto, j.args)
		}
		if v.DecidedAt != int64(upto) {
			t.Fatalf("%s known with byte %d, want %d\n%s", brief(v), v.DecidedAt, upto, spellAll(e.Trace(), spell))
		}
		if j.pointer != "" && v.Pointer != j.pointer {
			t.Fatalf("pointer %q, want %q", v.Pointer, j.pointer)
		}
		if v.Terminal() && e.Args() != nil {
			t.Fatalf("%s releases %s", brief(v), e.Args())
		}
		if j.release != "" && string(e.Args()) != j.release {
			t.Fatalf("releases %s, want %s", e.Args(), j.release)
		}
		if v.Public == "" {
			t.Fatal("no public text")
		}
	}
}

// nothing marks a verdict that is known before any byte.
const nothing = "-"

// brief formats a verdict as in the rows.
func brief(v stopgate.Verdict) string {
	if !v.Decided {
		return "waiting"
	}
	s := v.Mode.String() + " " + string(v.Code)
	if v.Rule != nil {
		s += " rule " + string(rune('0'+v.Rule.Index))
	}
	return s
}

func judge(t *testing.T, rows []judgement) {
	t.Helper()
	for _, j := range rows {
		t.Run(j.name, j.run)
	}
}

// final evaluates complete arguments.
func final(t *testing.T, b *eval.Binding, args string) stopgate.Verdict {
	t.Helper()
	e := b.Evaluate()
	e.Feed([]byte(args))
	return e.Close(stopgate.Ended)
}
