package imports_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/host/imports/jp"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"pgregory.net/rapid"
)

// jpRule is a rule of JP as its RFD D25 describes it.
type jpRule struct {
	arg, matcher string
	values       []any
	mode         string
}

func (r jpRule) text() string {
	if r.arg == "" {
		return fmt.Sprintf("{ mode = %q }", r.mode)
	}
	literal, _ := json.Marshal(r.values)
	if r.matcher != "enum" {
		literal, _ = json.Marshal(r.values[0])
	}
	return fmt.Sprintf("{ arg = %q, %s = %s, mode = %q }", r.arg, r.matcher, literal, r.mode)
}

// reached returns the values that a pointer names: every element where it meets an array.
func reached(v any, segments []string) (all []any) {
	if list, ok := v.([]any); ok {
		for _, e := range list {
			all = append(all, reached(e, segments)...)
		}
		return all
	}
	if len(segments) == 0 {
		return []any{v}
	}
	if members, ok := v.(map[string]any); ok {
		if m, ok := members[segments[0]]; ok {
			return reached(m, segments[1:])
		}
	}
	return nil
}

// matches reports whether one of the values that the pointer names satisfies the matcher. Paths
// are compared without dots, relative to the project, and by components.
func (r jpRule) matches(args map[string]any) bool {
	isPath := strings.HasSuffix(r.arg, "path") || strings.HasSuffix(r.arg, "paths")
	relative := func(v any) any {
		if s, ok := v.(string); ok && isPath {
			return strings.TrimPrefix(cleaned(s), root+"/")
		}
		return v
	}
	return slices.ContainsFunc(reached(args, strings.Split(r.arg[1:], "/")), func(v any) bool {
		v = relative(v)
		text, _ := v.(string)
		number, _ := v.(float64)
		switch r.matcher {
		case "const", "enum":
			return slices.ContainsFunc(r.values, func(w any) bool { return relative(w) == v })
		case "prefix":
			p := r.values[0].(string)
			if isPath {
				p = strings.TrimSuffix(p, "/")
				return text == p || strings.HasPrefix(text, p+"/")
			}
			return strings.HasPrefix(text, p)
		case "pattern":
			return regexp.MustCompile(r.values[0].(string)).MatchString(text)
		case "minimum":
			return number >= r.values[0].(float64)
		case "maximum":
			return number <= r.values[0].(float64)
		case "exclusive_minimum":
			return number > r.values[0].(float64)
		case "exclusive_maximum":
			return number < r.values[0].(float64)
		}
		return false
	})
}

// jpArgs are the pointers of the tool's parameters with their matchers and values.
var jpArgs = []struct {
	arg      string
	matchers map[string][]any
}{
	{"/path", map[string][]any{"prefix": {"src/", ".env", "src/docs", "docs"}, "const": {"src/a.go", ".env"}, "enum": {".env", "b.md"}, "pattern": {"secrets", "\\.go$"}}},
	{"/edits/paths", map[string][]any{"prefix": {"src", ".env"}, "const": {"b.md"}}},
	{"/util", map[string][]any{"const": {"jq", "wc"}, "enum": {"date", "wc", "head"}, "prefix": {"j"}, "pattern": {"^(?:jq|wc)$", "d"}}},
	{"/count", map[string][]any{"minimum": {1000.0, 5.0}, "maximum": {7.0}, "exclusive_minimum": {7.0}, "exclusive_maximum": {1000.0}, "const": {7.0}}},
	{"/force", map[string][]any{"const": {true, false}}},
	{"/absent", map[string][]any{"const": {"x"}}}, // which the tool does not have
}

const jpParameters = `
source = "local"
parameters.path = { type = "path", required = true, summary = "a file" }
parameters.edits = { type = "array", items = { type = "object", properties = { paths = { type = "array", items = { type = "path" } } } } }
parameters.util = { type = "string", description = "a program" }
parameters.count = { type = "integer" }
parameters.force = { type = "boolean", default = false }
`

// someRules draws a list, whose rules can be about a parameter that the tool does not have if it
// is the list of "*".
func someRules(t *rapid.T, label string, pointers int) (rules []jpRule) {
	modes := rapid.SampledFrom([]string{"ask", "unattended", "edit", "skip"})
	for range rapid.IntRange(1, 5).Draw(t, label) {
		r := jpRule{mode: modes.Draw(t, "mode")}
		if rapid.IntRange(0, 4).Draw(t, "conditional") > 0 {
			a := jpArgs[rapid.IntRange(0, pointers-1).Draw(t, "arg")]
			var names []string
			for name := range a.matchers {
				names = append(names, name)
			}
			slices.Sort(names)
			r.arg, r.matcher = a.arg, rapid.SampledFrom(names).Draw(t, "matcher")
			r.values = a.matchers[r.matcher]
			if r.matcher != "enum" {
				r.values = []any{rapid.SampledFrom(r.values).Draw(t, "value")}
			}
		}
		rules = append(rules, r)
	}
	return rules
}

func jpText(key string, rules []jpRule) string {
	if len(rules) == 0 {
		return ""
	}
	var parts []string
	for _, r := range rules {
		parts = append(parts, r.text())
	}
	return key + " = [" + strings.Join(parts, ", ") + "]\n"
}

// firstOf evaluates a list as D25 describes it.
func firstOf(list []jpRule, args map[string]any) stopgate.Mode {
	for _, r := range list {
		if r.arg == "" || r.matches(args) {
			m, _ := stopgate.ParseMode(r.mode)
			return m
		}
	}
	return stopgate.Ask
}

// Proves K0j: a policy that is converted from JP's configuration is never weaker, for calls and for
// their results, and the same if the report claims it.
func TestJPRules(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		own, result := someRules(t, "run", len(jpArgs)-1), someRules(t, "result", len(jpArgs)-1)
		if rapid.Bool().Draw(t, "no run") {
			own = nil
		}
		if rapid.Bool().Draw(t, "no result") {
			result = nil
		}
		every, everyResult := someRules(t, "every run", len(jpArgs)), someRules(t, "every result", len(jpArgs))
		text := "[conversation.tools.'*'.policy]\n" + jpText("run", every) + jpText("result", everyResult) +
			"[conversation.tools.edit_files]" + jpParameters + "[conversation.tools.edit_files.policy]\n" + jpText("run", own) + jpText("result", result)
		r, err := jp.Convert([]draft.File{{Name: "config.toml", Text: []byte(text)}}, draft.Options{Root: root})
		if err != nil || r.Remarks != "" {
			t.Fatalf("%v %+v\n%s", err, r, text)
		}
		j := judgeOf(t, r)
		if own == nil {
			own = every
		}
		if result == nil {
			result = everyResult
		}
		for range 8 {
			args := map[string]any{"path": jpPath().Draw(t, "path")}
			optional := func(name string, draw func() any) {
				if rapid.Bool().Draw(t, name) {
					args[name] = draw()
				}
			}
			optional("util", func() any {
				return rapid.SampledFrom([]string{"jq", "wc", "date", "head", "j", "rm", "ed", "JQ", "wc ", "ｊq"}).Draw(t, "util")
			})
			optional("count", func() any { return float64(rapid.SampledFrom([]int{0, 5, 7, 8, 999, 1000}).Draw(t, "count")) })
			optional("force", func() any { return rapid.Bool().Draw(t, "forced") })
			optional("edits", func() any {
				var edits []any
				for range rapid.IntRange(0, 2).Draw(t, "edits") {
					var paths []any
					for _, p := range rapid.SliceOfN(jpPath(), 0, 2).Draw(t, "paths") {
						paths = append(paths, p)
					}
					edits = append(edits, map[string]any{"paths": append([]any{}, paths...)})
				}
				return append([]any{}, edits...)
			})
			written, _ := json.Marshal(args)
			plain := !oddly.Match(written) && !strings.Contains(string(written), "..") && !strings.Contains(string(written), "./") && !strings.Contains(string(written), root) && !strings.Contains(string(written), `"/`)
			compareJP(t, j, string(written), j.decide("edit_files", args), firstOf(own, args), plain && theSame(r), text)
			compareJP(t, j, string(written), j.result(t, "edit_files", written), firstOf(result, args), plain && theSame(r), text)
		}
	})
}

// odd are values that some program may take for others. JP compares them as they are.
var odd = []string{"SRC/a.go", ".ENV", "src/%2e%2e/.env", `src\..\.env`, "~/.env", ".env ", "src/a.go.", "$HOME/.env", "src/*", "ｓrc/a.go"}

var oddly = regexp.MustCompile(`SRC|ENV|%2e|\\\\|~|\.env |\.go\.|\$|\*|ｓ|JQ|wc |ｊ`)

// jpPath draws paths, some of them odd.
func jpPath() *rapid.Generator[string] {
	return rapid.OneOf(aPath(), aPath(), rapid.SampledFrom(odd))
}

// severity orders the modes of JP: an edit asks, and a call that is skipped does not run.
var severity = map[stopgate.Mode]int{stopgate.Unattended: 0, stopgate.Ask: 1, stopgate.Edit: 1, stopgate.Skip: 2, stopgate.Deny: 2}

func compareJP(t *rapid.T, j judge, input string, got stopgate.Verdict, host stopgate.Mode, same bool, source string) {
	t.Helper()
	if severity[got.Mode] < severity[host] {
		t.Fatalf("weaker: %s is %v, JP decides %v\n%s\n%s", input, got.Mode, host, source, j.text)
	}
	if same && got.Mode != host {
		t.Fatalf("not the same: %s is %v (%s), JP decides %v\n%s\n%s", input, got.Mode, got.Code, host, source, j.text)
	}
}

// result evaluates the result of a call.
func (j judge) result(t fatal, tool string, args []byte) stopgate.Verdict {
	t.Helper()
	var d jsonstream.Document
	if err := d.Scan(args, jsonstream.Options{ObjectRoot: true}); err != nil {
		t.Fatalf("%v", err)
	}
	return j.program.Bind(stopgate.Call{Tool: stopgate.ToolName(tool), Surface: stopgate.SurfaceHook, Agent: "main"}).ResultMode(&d)
}

// Proves K0j: files of JP are merged as JP merges them, and each line without an effect is reported.
func TestJPFiles(t *testing.T) {
	const tool = "[conversation.tools.x]\nsource = \"local\"\nparameters.path = { type = \"path\" }\n"
	for _, c := range []struct {
		name  string
		files []string
		want  stopgate.Mode
		note  string // a part of the report
	}{
		{"the default", []string{tool, "[conversation.tools.'*']\nrun = 'skip'"}, stopgate.Skip, ""},
		{"a list in place of it", []string{tool + "run = 'ask'", "[conversation.tools.'*']\nrun = 'skip'"}, stopgate.Ask, "only the default"},
		{"the policy wins", []string{tool + "run = 'unattended'\npolicy.run = 'edit'"}, stopgate.Edit, "policy.run takes precedence"},
		{"and the newer default", []string{tool, "[conversation.tools.'*']\nrun = 'unattended'\npolicy.run = 'skip'"}, stopgate.Skip, "policy.run takes precedence"},
		{"in a later file too", []string{tool + "policy.run = 'ask'", "[conversation.tools.x]\nrun = 'unattended'"}, stopgate.Ask, "policy.run takes precedence"},
		{"the later file", []string{tool + "run = 'ask'", "[conversation.tools.x]\nrun = 'unattended'"}, stopgate.Unattended, "b.toml decides"},
		{"an older word", []string{tool + "run = 'always'"}, stopgate.Unattended, ""},
		{"nothing", []string{tool}, stopgate.Ask, ""},
		{"switched off", []string{tool + "run = 'unattended'\nenable = false"}, stopgate.Deny, "the tool is switched off"},
		{"only by its name", []string{tool + "run = 'unattended'\nenable = 'explicit'"}, stopgate.Deny, ""},
		{"by a table", []string{tool + "run = 'unattended'\nenable = { state = false, allow_toggle = 'never' }"}, stopgate.Deny, ""},
		{"all of them", []string{tool + "run = 'unattended'", "[conversation.tools.'*']\nenable = 'off'"}, stopgate.Deny, ""},
		{"but this", []string{tool + "run = 'unattended'\nenable = true", "[conversation.tools.'*']\nenable = false"}, stopgate.Unattended, ""},
		{"switched on later", []string{tool + "run = 'unattended'\nenable = false", "[conversation.tools.x]\nenable = true"}, stopgate.Unattended, "b.toml decides"},
		{"no later file", []string{"inherit = false\n" + tool + "run = 'ask'", "[conversation.tools.x]\nrun = 'unattended'"}, stopgate.Ask, "a.toml sets inherit = false"},
		{"a file before", []string{"extends = ['more.toml']\n" + tool + "run = 'ask'"}, stopgate.Ask, "a.toml decides"},
		{"a file after", []string{"extends = [{ path = 'more.toml', strategy = 'after' }]\n" + tool + "run = 'ask'"}, stopgate.Skip, "more.toml decides"},
		{"a file that is not there", []string{"extends = ['gone.toml']\n" + tool + "run = 'ask'"}, stopgate.Ask, "a.toml extends gone.toml, where no file was read"},
		{"of a server", []string{"[conversation.tools.x]\nsource = 'mcp.github'\nparameters.path = { enum = ['a'] }\nrun = 'unattended'"}, stopgate.Unattended, "narrows"},
		{"grants", []string{tool + "run = 'unattended'\naccess.fs = []"}, stopgate.Unattended, "`access`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []draft.File
			for i, text := range c.files {
				files = append(files, draft.File{Name: string(rune('a'+i)) + ".toml", Text: []byte(text)})
			}
			more := draft.File{Name: "more.toml", Text: []byte("extends = ['a.toml']\n[conversation.tools.x]\nrun = 'skip'")}
			r, err := jp.Convert(files, draft.Options{Root: root, Extend: func(_, name string) ([]draft.File, error) {
				if name == "gone.toml" {
					return nil, nil
				}
				return []draft.File{more}, nil
			}})
			if err != nil || r.Remarks != "" {
				t.Fatalf("%v %+v", err, r)
			}
			j := judgeOf(t, r)
			if v := j.decide("x", map[string]any{"path": "src/a"}); v.Mode != c.want {
				t.Errorf("%v (%s), want %v\n%s", v.Mode, v.Code, c.want, j.text)
			}
			if c.note == "only the default" {
				c.note = ""
			}
			if report := fmt.Sprint(r.Rules, r.Notes); !strings.Contains(report, c.note) {
				t.Errorf("the report has no %q: %s", c.note, report)
			}
		})
	}
}

// Proves K0j: a configuration that JP would not accept, or that has keys that are not known, is an
// error with its position.
func TestJPMistakes(t *testing.T) {
	const tool = "[conversation.tools.x]\nsource = \"local\"\nparameters.path = { type = \"path\" }\n"
	for text, want := range map[string]string{
		"x = ":                                           "a.toml",
		"conversation = 1":                               "a.toml:1: conversation is no table",
		"[conversation.tools]\nx = 1":                    "a.toml:2: x is no table",
		tool + "rum = 'ask'":                             "a.toml:4: x: rum is not known",
		tool + "run = 'allow'":                           `a.toml:4: x: a mode is ask, unattended, edit or skip, not "allow"`,
		tool + "run = 1":                                 "run is a mode or a list of rules",
		tool + "policy = 'ask'":                          "policy is no table",
		tool + "policy.runs = 'ask'":                     "not runs",
		tool + "enable = 1":                              "enable is a boolean",
		tool + "run = [1]":                               "a rule is no table",
		tool + "run = [{ arg = '/path' }]":               "a rule has no mode",
		tool + "run = [{ mode = 'ask', all = 1 }]":       "all is not known",
		tool + "run = [{ arg = '/path', mode = 'ask' }]": "has one matcher",
		tool + "run = [{ const = 1, mode = 'ask' }]":     "has an `arg`",
		tool + "run = [{ arg = '/path', const = 'a', prefix = 'b', mode = 'ask' }]": "one matcher is allowed",
		tool + "run = [{ arg = 'path', const = 'a', mode = 'ask' }]":                "arg is not known",
		tool + "run = [{ arg = '/other', const = 'a', mode = 'ask' }]":              "a.toml:4: x: it has no parameter /other",
		tool + "parameters.y = { type = 'text' }":                                   "parameter y has no type that is known",
		tool + "parameters.y = { typ = 'string' }":                                  "typ is not known",
		"extends = 'x'": "extends is no list",
		"extends = [{ path = 'x', strategy = 'never' }]":                               "before, after",
		"[conversation.tools.'x*']\nrun = 'ask'":                                       "x* is no name of a tool",
		tool + "run = [{ arg = '/path', pattern = '(?<a>x)\\k<a>', mode = 'skip' }]\n": "",
	} {
		r, err := jp.Convert([]draft.File{{Name: "a.toml", Text: []byte(text)}}, draft.Options{Root: root})
		switch {
		case want == "": // what the language cannot decide restricts more
			if err != nil || r.Rules[0].Outcome != draft.Stricter {
				t.Errorf("%v %+v", err, r)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	failing := func(string, string) ([]draft.File, error) { return nil, errors.New("no permission") }
	if _, err := jp.Convert([]draft.File{{Name: "a.toml", Text: []byte("extends = ['x']")}}, draft.Options{Extend: failing}); err == nil || !strings.Contains(err.Error(), "a.toml:1: no permission") {
		t.Error(err)
	}
}
