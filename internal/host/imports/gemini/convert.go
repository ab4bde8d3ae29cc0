// Package gemini converts the policies of Gemini CLI; see package imports.
package gemini

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Convert converts policy files of Gemini CLI. Later files take precedence over earlier ones, as the
// user's do over those of a workspace.
//
// Of the rules that match a call the one with the highest priority applies, of those with equal
// priority the first. A rule names tools, and a prefix of a command or a pattern on the arguments
// as JSON. Each command of a line is evaluated separately.
func Convert(files []draft.File, o draft.Options) (*draft.Result, error) {
	if o.Mode == "" {
		o.Mode = "default"
	}
	g := &converter{Draft: draft.Draft{Source: "the policies of Gemini CLI", Command: "gemini-policy", Files: files, Options: o}}
	for tier, f := range files {
		if err := g.read(tier, f); err != nil {
			return nil, err
		}
	}
	g.translate()
	return g.Finish()
}

type converter struct {
	draft.Draft
	list []geminiRule
}

type geminiRule struct {
	from     *draft.SourceRule
	mode     stopgate.Mode
	tier     int
	priority int64
	tools    []string // in stopgate's names; "*" for all
	// At most one of them is set: prefixes of commands, or a condition; neither means every call.
	prefixes []string
	cond     *draft.Condition
	// unsupported is the reason why the rule's condition cannot be converted, "" if it can.
	unsupported string
	reason      string
}

// geminiTools are the built-in tools with the relevant arguments.
var geminiTools = []struct {
	tool   string
	params []draft.Param
	reads  string // the argument that must be in the project for the tool to run without approval
}{
	{"read_file", []draft.Param{{Name: "file_path", Kind: "path"}, {Name: "absolute_path", Kind: "path"}, {Name: "offset", Kind: "number"}, {Name: "limit", Kind: "number"}, {Name: "start_line", Kind: "number"}, {Name: "end_line", Kind: "number"}}, "/file_path"},
	{"list_directory", []draft.Param{{Name: "dir_path", Kind: "path"}, {Name: "path", Kind: "path"}, {Name: "ignore", Kind: "array"}}, "/dir_path"},
	{"write_file", []draft.Param{{Name: "file_path", Kind: "path"}, {Name: "content", Kind: "string"}}, ""},
	{"replace", []draft.Param{{Name: "file_path", Kind: "path"}, {Name: "instruction", Kind: "string"}, {Name: "old_string", Kind: "string"}, {Name: "new_string", Kind: "string"}, {Name: "expected_replacements", Kind: "number"}}, ""},
}

func (g *converter) read(tier int, f draft.File) error {
	doc, mistakes := tomltree.Parse(f.Name, f.Text)
	if mistakes.HasErrors() {
		return fmt.Errorf("%s: %w", f.Name, mistakes.Err())
	}
	for _, e := range doc.Root.Entries {
		switch e.Key {
		case "rule":
		case "safety_checker":
			g.Note("Safety checkers of Gemini CLI have no counterpart here: keep them there.")
			continue
		default:
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: "a policy file has only [[rule]]: " + e.Key}
		}
		if e.Value.Kind != tomltree.Array {
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: "rule is no list of tables"}
		}
		for _, v := range e.Value.Elements {
			if v.Kind != tomltree.Table {
				return &draft.Error{File: f.Name, Line: v.Range.Start.Line, Message: "a rule is no table"}
			}
			if err := g.rule(tier, f, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// geminiKeys are the keys of a rule.
var geminiKeys = []string{"toolName", "mcpName", "subagent", "toolAnnotations", "argsPattern", "commandPrefix", "commandRegex", "decision",
	"priority", "modes", "interactive", "allowRedirection", "allow_redirection", "denyMessage", "deny_message", "name", "description"}

func (g *converter) rule(tier int, f draft.File, v *tomltree.Value) error {
	line := draft.LineOfTable(v)
	r := geminiRule{tier: tier}
	wrong := r.head(v)
	if wrong == "" {
		r.from = g.Add(f.Name, line, summary(v), draft.First(v, "decision"))
		if why := g.elsewhere(v); why != "" {
			r.from.LeftOut("%s", why)
			return nil
		}
		wrong = r.condition(v)
	}
	if wrong != "" {
		return &draft.Error{File: f.Name, Line: line, Message: wrong}
	}
	names, _ := draft.Texts(v, "toolName")
	switch {
	case len(names) > 0:
	case r.commands(v):
		names = []string{shellOfGemini}
	default:
		names = []string{"*"}
	}
	server := draft.First(v, "mcpName")
	for _, n := range names {
		name, exact, ok := geminiName(server, n, r.mode == stopgate.Unattended)
		if !ok {
			r.from.LeftOut("the name of the tool has a \"*\" that is not at its end")
			return nil
		}
		if !exact {
			r.from.Stricter("for more tools: %s", name)
		}
		r.tools = append(r.tools, name)
	}
	g.list = append(g.list, r)
	return nil
}

// head reads the decision and priority of a rule. It returns the mistake, or "".
func (r *geminiRule) head(v *tomltree.Value) (wrong string) {
	for _, e := range v.Entries {
		if !slices.Contains(geminiKeys, e.Key) {
			return e.Key + " is not known"
		}
	}
	decision := draft.First(v, "decision")
	m, ok := draft.Mode(decision)
	if !ok || decision == "ask" || decision == "prompt" || decision == "forbidden" {
		return fmt.Sprintf("decision is %q: it can be allow, deny or ask_user", decision)
	}
	r.mode = m
	p := v.Get("priority")
	if p == nil || p.Value.Kind != tomltree.Integer {
		return "priority is no number"
	}
	var err error
	if r.priority, err = strconv.ParseInt(p.Value.Text, 10, 64); err != nil || r.priority < 0 || r.priority > 999 {
		return "priority is not from 0 to 999"
	}
	if m == stopgate.Deny {
		r.reason = draft.ReasonOf(draft.First(v, "denyMessage") + draft.First(v, "deny_message"))
	}
	return ""
}

// elsewhere returns why a rule does not apply where the policy will, or "".
func (g *converter) elsewhere(v *tomltree.Value) string {
	if modes, _ := draft.Texts(v, "modes"); len(modes) > 0 && !slices.Contains(modes, g.Options.Mode) {
		return "it holds in other modes than " + g.Options.Mode
	}
	if e := v.Get("interactive"); e != nil && e.Value.Text == "false" {
		return "it holds only where nobody can be asked"
	}
	return ""
}

// shellOfGemini is the tool of rules on commands.
const shellOfGemini = "run_shell_command"

// commands reports whether a rule is on commands.
func (r *geminiRule) commands(v *tomltree.Value) bool {
	return len(r.prefixes) > 0 || draft.First(v, "commandRegex") != ""
}

// condition reads which calls of its tools a rule matches. It returns the mistake, or "".
func (r *geminiRule) condition(v *tomltree.Value) (wrong string) {
	for _, key := range []string{"subagent", "toolAnnotations"} {
		if v.Get(key) != nil {
			r.unsupported = key + " cannot be said"
		}
	}
	names, ok1 := draft.Texts(v, "toolName")
	prefixes, ok2 := draft.Texts(v, "commandPrefix")
	if !ok1 || !ok2 {
		return "toolName and commandPrefix are strings, or lists of them"
	}
	r.prefixes = prefixes
	regex, args := draft.First(v, "commandRegex"), draft.First(v, "argsPattern")
	shell := len(names) == 0 || len(names) == 1 && names[0] == shellOfGemini
	if r.commands(v) && (!shell || args != "" || len(prefixes) > 0 && regex != "") {
		return "commandPrefix and commandRegex stand alone, with toolName " + shellOfGemini
	}
	switch {
	case regex != "":
		r.cond = pattern("/command", regex, r.mode == stopgate.Unattended)
	case args != "":
		if arg, rest, ok := argument(args); ok {
			r.cond = pattern(arg, rest, r.mode == stopgate.Unattended)
		}
	}
	if (regex != "" || args != "") && r.cond == nil {
		r.unsupported = "its pattern on the arguments as JSON cannot be said"
	}
	return ""
}

// summary formats a rule in one line.
func summary(v *tomltree.Value) string {
	var parts []string
	for _, e := range v.Entries {
		switch e.Key {
		case "decision", "priority", "denyMessage", "deny_message", "name", "description":
			continue
		}
		text := e.Value.Text
		if e.Value.Kind == tomltree.Array {
			var list []string
			for _, x := range e.Value.Elements {
				list = append(list, tomltree.Quote(x.Text))
			}
			text = "[" + strings.Join(list, ", ") + "]"
		} else if e.Value.Kind == tomltree.String {
			text = tomltree.Quote(text)
		}
		parts = append(parts, e.Key+" = "+text)
	}
	if p := v.Get("priority"); p != nil {
		parts = append(parts, "priority = "+p.Value.Text)
	}
	return strings.Join(parts, ", ")
}

// geminiName returns the name in policies of the tools of a rule.
func geminiName(server, tool string, permits bool) (name string, exact, ok bool) {
	if server == "" {
		rest, mcp := strings.CutPrefix(tool, "mcp_")
		switch {
		case tool == "*":
			return tool, true, true
		case tool == "mcp_*", strings.HasPrefix(rest, "*_") && mcp:
			if tool != "mcp_*" && permits {
				return "", false, false
			}
			return draft.OfServers, tool == "mcp_*", true
		case mcp:
			server, tool, ok = strings.Cut(rest, "_")
			if !ok {
				return "", false, false
			}
		default:
			if s, t, both := strings.Cut(tool, "__"); both { // a legacy spelling
				server, tool = s, t
				break
			}
			return draft.Fold(tool, permits)
		}
	}
	if server == "*" {
		if tool == "*" {
			return draft.OfServers, true, true
		}
		if permits {
			return "", false, false
		}
		return draft.OfServers, false, true
	}
	return draft.Fold(server+"__"+tool, permits)
}

// argument parses a pattern on JSON of the form "NAME":"PATTERN, which matches the beginning of one
// argument.
func argument(pattern string) (arg, rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimPrefix(pattern, `\`), `"`)
	if !ok {
		return "", "", false
	}
	name, rest, ok := strings.Cut(rest, `"`)
	name = strings.TrimSuffix(name, `\`)
	if !ok || !isWord(name) {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(rest, ":")
	if !ok {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, `\`), `"`)
	return "/" + name, rest, ok
}

func isWord(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return name != ""
}

// pattern returns a condition that the value of an argument begins with a match of a pattern, nil
// if the pattern could mean something else on the JSON that Gemini CLI matches: if it could match
// the quote after the value, or is negated.
func pattern(arg, regex string, permits bool) *draft.Condition {
	end := "[^]*"
	if body, ok := strings.CutSuffix(regex, `"`); ok {
		regex, end = strings.TrimSuffix(body, `\`), ""
	}
	if strings.ContainsAny(regex, `"^$`) || strings.Contains(regex, "(?") || strings.Contains(regex, `\b`) || strings.Contains(regex, `\B`) || strings.Contains(regex, `\\`) {
		if permits {
			return nil
		}
		if strings.Contains(regex, `"`) || strings.Contains(regex, `\\`) || strings.Contains(regex, "^") || strings.Contains(regex, "$") {
			return nil
		}
	}
	if permits {
		// A value with quotes or backslashes has another text as JSON.
		p := "(?=[^\"\\\\]*$)(?:" + regex + ")" + end
		return &draft.Condition{Arg: arg, Matcher: "pattern", Values: []string{"^" + p + "$"}, Sure: p}
	}
	p := "(?:" + regex + ")" + end
	return &draft.Condition{Arg: arg, Matcher: "pattern", Values: []string{"^" + p + "$"}, Sure: p}
}
