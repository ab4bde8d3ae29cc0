package approve_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
)

// Proves S34, Q25: the values that the table of known tools lets vary are left open, present or not; the others, and
// everything with a meaning of its own, stay as they are.
func TestVarying(t *testing.T) {
	call := func(tool stopgate.ToolName, values ...string) gate.View {
		v := askedAbout(values...)
		v.Call.Tool, v.Binding.Tool = tool, tool
		return v
	}
	empty := []gate.Leaf{{Known: true, JSON: "{}"}} // arguments without a value
	for _, c := range []struct {
		tool   stopgate.ToolName
		first  []string
		at     int // the offer
		title  string
		passes [][]string
		asks   [][]string
	}{
		{"Edit", []string{"path /file_path Makefile", "text /old_string a", "text /new_string b"}, 0, "this file: Makefile",
			[][]string{{"path /file_path Makefile", "text /old_string c", "text /new_string d"}, {"path /file_path Makefile", "text /old_string c", "text /replace_all x"}},
			[][]string{nil, {"path /file_path GNUmakefile", "text /old_string a", "text /new_string b"}, {"text /old_string a", "text /new_string b"}, {"path /file_path Makefile", "path /old_string x"}, {"path /file_path Makefile", "text /mode x"}}},
		{"Edit", []string{"path /file_path tools/a.sh", "text /old_string a"}, 0, "this directory: tools",
			[][]string{{"path /file_path tools/b.sh", "text /old_string c"}}, [][]string{{"path /file_path a.sh", "text /old_string c"}, {"path /file_path tools/a.sh", "text /mode c"}}},
		{"cargo_check", []string{"text /package a"}, 0, "this tool: cargo_check", [][]string{nil, {"text /package b"}, {"text /package b", "text /item c"}}, [][]string{{"text /manifest x"}, {"path /package x"}}},
		{"cargo_check", nil, 0, "this tool: cargo_check", [][]string{{"text /package b"}}, [][]string{{"text /manifest x"}}},
		{"github_issues", []string{"text /repository a/b", "text /number 1"}, 0, "this tool: github_issues", [][]string{{"text /repository a/b", "text /number 2"}, {"text /repository a/b"}}, [][]string{{"text /repository a/c", "text /number 1"}, {"text /number 1"}}},
		{"fs_modify_file", []string{"path /path justfile", "text /patterns/0/old a", "text /patterns/0/new b"}, 0, "this file: justfile",
			[][]string{{"path /path justfile", "text /patterns/0/old c", "text /patterns/1/old d"}}, [][]string{{"path /path justfile", "path /patterns/0/paths/0 x"}}},
		{"rfd_draft", []string{"text /title a"}, 0, "exactly this", nil, [][]string{{"text /title b"}}},
	} {
		first := call(c.tool, c.first...)
		if c.first == nil {
			first.Leaves = empty
		}
		x := approve.Extensions(first)[c.at]
		if x.Title != c.title {
			t.Errorf("%s %v: offers %q, want %q", c.tool, c.first, x.Title, c.title)
			continue
		}
		if !answersWith(t, x, first, first) {
			t.Errorf("%s %v: does not cover itself", c.tool, c.first)
		}
		for _, then := range c.passes {
			v := call(c.tool, then...)
			if then == nil {
				v.Leaves = empty
			}
			if !answersWith(t, x, first, v) {
				t.Errorf("%s: %q: %v asks", c.tool, x.Title, then)
			}
		}
		for _, then := range c.asks {
			v := call(c.tool, then...)
			if then == nil {
				v.Leaves = empty
			}
			if answersWith(t, x, first, v) {
				t.Errorf("%s: %q: %v passes", c.tool, x.Title, then)
			}
		}
	}
}

// Proves S34: a parameter stays compared if its value is the reason of the question, if another server has a tool
// of the name, and if the table does not let it vary, whoever asks for it.
func TestNotVarying(t *testing.T) {
	for name, change := range map[string]func(*gate.View){
		"the reason":     func(v *gate.View) { v.Verdict.Pointer = "/package" },
		"another server": func(v *gate.View) { v.Call.Server, v.Binding.Server = "s", "s" },
		"an origin": func(v *gate.View) {
			v.Origins = []stopgate.Origin{{Pointer: "/package", Source: "tool", Wanted: []string{"user"}}}
		},
		"an unknown value": func(v *gate.View) { v.Leaves[0].Known = false },
	} {
		v := askedAbout("text /package a")
		v.Call.Tool, v.Binding.Tool = "cargo_check", "cargo_check"
		change(&v)
		for _, x := range approve.Extensions(v) {
			then := v
			then.Leaves = []gate.Leaf{{Pointer: "/package", Known: v.Leaves[0].Known, JSON: `"b"`}}
			if answersWith(t, x, v, then) {
				t.Errorf("%s: %q leaves the package open", name, x.Title)
			}
		}
	}
	v := askedAbout("path /file_path a", "text /old_string x")
	v.Call.Tool, v.Binding.Tool = "Edit", "Edit"
	for _, w := range []approve.Value{{Pointer: "/file_path", How: approve.Open}, {Pointer: "/mode", How: approve.Open}, {Pointer: "", How: approve.Open}, {Pointer: "/old_string", How: approve.Open, Text: "x"}} {
		if _, err := approve.Offer(v, approve.Scope{Wider: []approve.Value{w}}, "bob", time.Now()); err == nil {
			t.Errorf("%s is left open", w.Pointer)
		}
	}
}

// A server that an operator's file names as a listed one lets the same values vary; one whose tools only have such names does not.
func TestVaryingOfServers(t *testing.T) {
	for known, varies := range map[stopgate.ServerID]bool{"filesystem": true, "": false, "fetch": false} {
		for _, tool := range []stopgate.ToolName{"write_file", "files__write_file"} {
			v := askedAbout("path /path Makefile", "text /content a")
			v.Call.Tool, v.Binding.Tool, v.Call.Server, v.Binding.Server, v.KnownServer = tool, tool, "files", "files", known
			then := askedAbout("path /path Makefile", "text /content b")
			then.Call, then.Binding, then.KnownServer = v.Call, v.Binding, known
			then.Binding.Args = "other"
			open := false
			for _, x := range approve.Extensions(v) {
				open = open || answersWith(t, x, v, then)
			}
			if open != varies {
				t.Errorf("%s of files, known as %q: other content passes: %t", tool, known, open)
			}
		}
	}
}
