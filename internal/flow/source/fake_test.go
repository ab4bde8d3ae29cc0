package source_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/flow/source"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// plainIndex is an index that keeps what was added. It finds a value where a text has it between
// characters that are no letters or digits.
type plainIndex struct {
	batches []*index.Batch
	keys    map[string]bool
	written [][]byte
}

func (x *plainIndex) Size() (int64, int64) { return 0, 0 }
func (x *plainIndex) Restore([]byte) error { return nil }
func (x *plainIndex) View() flow.View      { return plainView{x} }

func (x *plainIndex) Add(b *index.Batch) []byte {
	if len(b.Key) > 0 && x.keys[string(b.Key)] {
		return nil
	}
	x.keys[string(b.Key)] = true
	for _, m := range b.Marks {
		x.keys[string(m)] = true
	}
	x.batches = append(x.batches, b)
	x.written = append(x.written, b.Written...)
	return []byte("segment")
}

func (x *plainIndex) Has(key []byte) bool { return len(key) > 0 && x.keys[string(key)] }

func (x *plainIndex) Written(value []byte, _ flow.Kind) bool {
	return slices.ContainsFunc(x.written, func(text []byte) bool { return occurs(value, text) })
}

func (x *plainIndex) WroteWord(word []byte) bool { return x.Written(word, flow.Text) }

// texts returns the texts, one a line: certain sources, "?" and suspected ones, the text.
func (x *plainIndex) texts() (lines []string) {
	for _, b := range x.batches {
		for _, t := range b.Texts {
			line := fmt.Sprint(t.Sources)
			if len(t.Suspected) > 0 {
				line += fmt.Sprintf("?%v", t.Suspected)
			}
			if t.Opaque {
				line += " opaque"
			}
			lines = append(lines, line+" "+string(t.Text))
		}
	}
	return lines
}

// of returns the texts that certainly have a source.
func (x *plainIndex) of(s flow.Source) (found []string) {
	for _, b := range x.batches {
		for _, t := range b.Texts {
			if slices.Contains(t.Sources, s) {
				found = append(found, string(t.Text))
			}
		}
	}
	return found
}

// suspected returns the texts that may have a source.
func (x *plainIndex) suspected(s flow.Source) (found []string) {
	for _, b := range x.batches {
		for _, t := range b.Texts {
			if slices.Contains(t.Suspected, s) {
				found = append(found, string(t.Text))
			}
		}
	}
	return found
}

type plainView struct{ *plainIndex }

func (v plainView) Find(value []byte, q *flow.Query) (f flow.Finding) {
	for _, b := range v.batches {
		for _, t := range b.Texts {
			in := slices.ContainsFunc(t.Sources, func(s flow.Source) bool { return slices.Contains(q.Sources, s) })
			echo := slices.ContainsFunc(b.Echo, func(e []byte) bool { return occurs(value, e) })
			if in && !echo && !slices.Contains(t.Sources, flow.Hidden) && occurs(value, t.Text) {
				return flow.Finding{Certain: true, Possible: true}
			}
		}
	}
	return f
}
func (plainView) Carries([]byte, *flow.Query) (f flow.Finding)   { return f }
func (plainView) Origin([]byte, flow.Kind) (r flow.Ref)          { return r }
func (plainView) Said(string) bool                               { return false }
func (plainView) Read(*flow.Query, func(string) bool, bool) bool { return false }

func occurs(value, text []byte) bool {
	value, text = bytes.ToLower(value), bytes.ToLower(text)
	for from := 0; ; {
		i := bytes.Index(text[from:], value)
		if i < 0 || len(value) == 0 {
			return false
		}
		i += from
		if !letter(text, i-1) && !letter(text, i+len(value)) {
			return true
		}
		from = i + 1
	}
}

func letter(text []byte, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i] | 0x20
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// sources parses the tables of a policy file.
func sources(t testing.TB, text string) (*syntax.File, []*syntax.SourceTable) {
	t.Helper()
	f, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte("version = 1\n"+text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	return f, f.Sources
}

// session is a session of a policy of an operator.
type session struct {
	*source.Reader
	index *plainIndex
	calls int
}

// effects are the tools with an effect; every other tool of a test is declared without.
var effects = []string{"send_email", "download", "add_contact", "write_file", "fetch_and_save"}

func facts(name stopgate.ToolName) source.Facts {
	return source.Facts{Declared: !strings.HasPrefix(string(name), "undeclared"), Effect: slices.Contains(effects, string(name))}
}

func begin(t testing.TB, policy string) *session {
	t.Helper()
	f, tables := sources(t, policy)
	c := source.Config{Files: []source.File{{Sources: tables}}, Tool: facts, Own: f.Flow.Own}
	for r := range f.Rules() {
		if r.When != nil && r.When.Says != nil {
			c.Says = append(c.Says, r.When.Says)
		}
	}
	return &session{Reader: source.New(c), index: &plainIndex{keys: map[string]bool{}}}
}

// two begins a session of an operator's policy and that of an untrusted file, whose scope is "p".
func two(t testing.TB, operator, project string) *session {
	t.Helper()
	_, a := sources(t, operator)
	_, b := sources(t, project)
	c := source.Config{Files: []source.File{{Sources: a}, {Sources: b, Scope: "@p"}}, Tool: facts}
	return &session{Reader: source.New(c), index: &plainIndex{keys: map[string]bool{}}}
}

func (s *session) user(text string) []byte {
	return s.Message(s.index, &flow.Message{Source: flow.User, Text: []byte(text)})
}

// called adds a released call and its result.
func (s *session) called(tool, args, data string) []byte {
	s.Call(s.index, stopgate.ToolName(tool), []byte(args))
	return s.result(tool, args, data)
}

func (s *session) result(tool, args, data string) []byte {
	s.calls++
	return s.Result(s.index, &flow.Result{
		Tool: stopgate.ToolName(tool), Call: stopgate.CallID(fmt.Sprint("call", s.calls)), Args: []byte(args), Data: []byte(data), Released: true,
	})
}

func want(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func toolNamed(name stopgate.ToolName) source.Facts {
	return source.Facts{Name: stopgate.ToolName(strings.TrimPrefix(string(name), "mcp__")), Declared: true}
}
