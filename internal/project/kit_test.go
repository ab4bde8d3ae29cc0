package project_test

import (
	"encoding/json"
	"strings"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/project"
	"github.com/stopgate/stopgate/internal/prove"
)

// files makes a project of "name: text" pairs; a name that ends with / is a directory.
func files(pairs map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range pairs {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return fsys
}

func read(t rapid.TB, fsys fstest.MapFS) project.Project {
	t.Helper()
	p, err := project.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// proofread fails if a policy has a finding of any severity in strict mode, or too many lines.
func proofread(t rapid.TB, text []byte) {
	t.Helper()
	if n := strings.Count(string(text), "\n"); n > project.MaxLines {
		t.Errorf("%d lines:\n%s", n, text)
	}
	parsed, found := parser.Parse(kinds.Table(), "stopgate.toml", text)
	if parsed != nil {
		found = append(found, prove.Check(parsed, policy.Options{Strict: true})...)
	}
	if len(found) > 0 {
		t.Errorf("%v in\n%s", found, text)
	}
}

// judge returns how a policy judges calls.
func judge(t rapid.TB, text []byte) func(tool, name, value string) stopgate.Mode {
	t.Helper()
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: text, Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if p == nil {
		t.Fatalf("%v in\n%s", found, text)
	}
	bound := map[string]*eval.Binding{}
	return func(tool, name, value string) stopgate.Mode {
		if bound[tool] == nil {
			bound[tool] = p.Bind(stopgate.Call{Tool: stopgate.ToolName(tool)})
		}
		args, err := json.Marshal(map[string]string{name: value})
		if err != nil {
			t.Fatal(err)
		}
		e := bound[tool].Evaluate()
		e.Feed(args)
		return e.Close(stopgate.Ended).Mode
	}
}

func starter(t rapid.TB) []byte {
	t.Helper()
	list, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	return list[0].Text
}
