// Package jp converts the tool configuration of JP; see package imports.
package jp

import (
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Convert converts the tables conversation.tools of JP's configuration, with the rules on arguments of
// its RFD D25. Later files are merged into earlier ones key by key, and the files that one extends
// before or after it, if [draft.Options.Extend] reads them.
//
// The list of a tool is policy.run, without one run, without one that of "*"; the first rule that
// matches decides, and without a match JP asks. In JP one matching element of an array is enough
// for every rule; a policy permits only if all of them match.
func Convert(files []draft.File, o draft.Options) (*draft.Result, error) {
	j := &converter{Draft: draft.Draft{Source: "the tool configuration of JP", Command: "jp", Files: files, Options: o}, tools: map[string]*jpTool{}}
	j.defaults = &jpTool{name: "*"}
	for _, f := range files {
		if j.alone != "" {
			j.Note(j.alone + " sets inherit = false, so JP does not read " + f.Name + ".")
			continue
		}
		if err := j.read(f); err != nil {
			return nil, err
		}
	}
	if err := j.translate(); err != nil {
		return nil, err
	}
	return j.Finish()
}

type converter struct {
	draft.Draft
	defaults *jpTool
	tools    map[string]*jpTool
	order    []string
	seen     []string // names of the files that are read
	alone    string   // the file after which JP reads no other
}

// jpTool is the merged table of one tool.
type jpTool struct {
	name   string
	source string // local, mcp or builtin, "" if no file has it
	off    *bool
	offAt  *draft.SourceRule
	lists  map[string]*jpList // run, result, policy.run, policy.result
	params []*jpParam
	// unnamed is set if a rule is about a parameter that the configuration does not have.
	unnamed bool
}

// jpList is a mode, or a list of rules.
type jpList struct {
	key   string
	rules []*draft.Rule
}

// The keys that JP has. A key that is none of them may hold a rule.
var (
	jpDefaultKeys = []string{"enable", "run", "format", "result", "cancellation_response", "style", "policy"}
	jpToolKeys    = append([]string{"source", "command", "summary", "description", "examples", "parameters", "questions", "options", "access"}, jpDefaultKeys...)
)

// jpNotes are about keys without a counterpart.
var jpNotes = map[string]string{
	"access":    "`access` is what a tool may reach, and JP's tools keep to it themselves: it is not in the policy.",
	"format":    "`format` is about how JP shows a call: it is not in the policy.",
	"questions": "Answers to questions of JP's tools (`questions`) are given after a call is allowed: they are not in the policy.",
}

func (j *converter) read(f draft.File) error {
	if slices.Contains(j.seen, f.Name) {
		return nil
	}
	j.seen = append(j.seen, f.Name)
	if !slices.ContainsFunc(j.Files, func(o draft.File) bool { return o.Name == f.Name }) {
		j.Files = append(j.Files, f)
	}
	doc, mistakes := tomltree.Parse(f.Name, f.Text)
	if mistakes.HasErrors() {
		return mistakes.Err()
	}
	before, after, err := j.extended(f, doc.Root)
	if err != nil {
		return err
	}
	for _, e := range before {
		if err := j.read(e); err != nil {
			return err
		}
	}
	if err := j.own(f, doc.Root); err != nil {
		return err
	}
	for _, e := range after {
		if err := j.read(e); err != nil {
			return err
		}
	}
	return nil
}

// extended returns the files that a file extends.
func (j *converter) extended(f draft.File, root *tomltree.Value) (before, after []draft.File, err error) {
	e := root.Get("extends")
	if e == nil {
		return nil, nil, nil
	}
	if e.Value.Kind != tomltree.Array {
		return nil, nil, &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: "extends is no list"}
	}
	for _, v := range e.Value.Elements {
		name, strategy := v.Text, "before"
		if v.Kind == tomltree.Table {
			name = draft.First(v, "path")
			if s := draft.First(v, "strategy"); s != "" {
				strategy = s
			}
		}
		if name == "" || strategy != "before" && strategy != "after" {
			return nil, nil, &draft.Error{File: f.Name, Line: v.Range.Start.Line, Message: "a file that is extended is a path, or a table of path and strategy (before, after)"}
		}
		var found []draft.File
		if j.Options.Extend != nil {
			if found, err = j.Options.Extend(f.Name, name); err != nil {
				return nil, nil, &draft.Error{File: f.Name, Line: v.Range.Start.Line, Message: err.Error()}
			}
		}
		if len(found) == 0 {
			j.Note(f.Name + " extends " + name + ", where no file was read.")
		}
		if strategy == "after" {
			after = append(after, found...)
		} else {
			before = append(before, found...)
		}
	}
	return before, after, nil
}

// own reads the tables of one file.
func (j *converter) own(f draft.File, root *tomltree.Value) error {
	if e := root.Get("inherit"); e != nil && e.Value.Kind == tomltree.Bool && e.Value.Text == "false" {
		j.alone = f.Name
	}
	tools := root
	for _, key := range []string{"conversation", "tools"} {
		e := tools.Get(key)
		if e == nil {
			return nil
		}
		if tools = e.Value; tools.Kind != tomltree.Table {
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: key + " is no table"}
		}
	}
	for _, e := range tools.Entries {
		if e.Value.Kind != tomltree.Table {
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: e.Key + " is no table"}
		}
		t, keys := j.defaults, jpDefaultKeys
		if e.Key != "*" {
			if t = j.tools[e.Key]; t == nil {
				t = &jpTool{name: e.Key}
				j.tools[e.Key] = t
				j.order = append(j.order, e.Key)
			}
			keys = jpToolKeys
		}
		if strings.ContainsAny(t.name, "*?[") && t != j.defaults {
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: t.name + " is no name of a tool"}
		}
		if err := j.tool(f, t, e.Value, keys); err != nil {
			return err
		}
	}
	return nil
}

// tool merges one table into those of earlier files.
func (j *converter) tool(f draft.File, t *jpTool, v *tomltree.Value, keys []string) error {
	for _, e := range v.Entries {
		wrong := func(message string) error {
			return &draft.Error{File: f.Name, Line: e.KeyRange.Start.Line, Message: t.name + ": " + message}
		}
		if !slices.Contains(keys, e.Key) {
			return wrong(e.Key + " is not known")
		}
		if n := jpNotes[e.Key]; n != "" {
			j.Note(n)
		}
		var err error
		switch e.Key {
		case "source":
			t.source, _, _ = strings.Cut(e.Value.Text, ".")
		case "enable":
			err = j.enable(f, t, e)
		case "run", "result":
			err = j.list(f, t, e.Key, e)
		case "policy":
			for _, p := range e.Value.Entries {
				if p.Key != "run" && p.Key != "result" {
					return wrong("policy has run and result, not " + p.Key)
				}
				if err := j.list(f, t, "policy."+p.Key, p); err != nil {
					return err
				}
			}
			if e.Value.Kind != tomltree.Table {
				err = errors.New("policy is no table")
			}
		case "parameters":
			t.params, err = mergeJPParams(t.params, e.Value)
		}
		if err != nil {
			return wrong(err.Error())
		}
	}
	return nil
}

// enable reads whether JP offers a tool.
func (j *converter) enable(f draft.File, t *jpTool, e *tomltree.Entry) error {
	v := e.Value
	if v.Kind == tomltree.Table {
		s := v.Get("state")
		if s == nil {
			return nil
		}
		v = s.Value
	}
	var off bool
	switch v.Text {
	case "true", "on", "always":
	case "false", "off", "explicit":
		off = true
	default:
		return errors.New("enable is a boolean, on, off, always, explicit or a table with a state")
	}
	if t.offAt != nil {
		t.offAt.LeftOut("%s decides", f.Name)
	}
	t.off, t.offAt = &off, nil
	if off {
		t.offAt = j.Add(f.Name, e.KeyRange.Start.Line, t.name+": enable = "+jpLiteral(e.Value), "enable")
	}
	return nil
}

// list reads a mode or a list of rules, which replaces that of earlier files.
func (j *converter) list(f draft.File, t *jpTool, key string, e *tomltree.Entry) error {
	l := &jpList{key: key}
	switch e.Value.Kind {
	case tomltree.String:
		r, err := j.catchAll(f, t.name+": "+key+" = ", e.Value, e.KeyRange.Start.Line)
		if err != nil {
			return err
		}
		l.rules = append(l.rules, r)
	case tomltree.Array:
		for _, v := range e.Value.Elements {
			r, err := j.rule(f, t.name+": "+key+": ", v)
			if err != nil {
				return err
			}
			l.rules = append(l.rules, r)
		}
	default:
		return errors.New(key + " is a mode or a list of rules")
	}
	if t.lists == nil {
		t.lists = map[string]*jpList{}
	}
	if old := t.lists[key]; old != nil {
		for _, r := range old.rules {
			r.From.LeftOut("%s decides", f.Name)
		}
	}
	t.lists[key] = l
	return nil
}

// jpMode returns the mode of a word. "always" is an older one of JP.
func jpMode(word string) (stopgate.Mode, error) {
	switch word {
	case "ask", "unattended", "edit", "skip":
		return stopgate.ParseMode(word)
	case "always":
		return stopgate.Unattended, nil
	}
	return stopgate.Deny, errors.New("a mode is ask, unattended, edit or skip, not " + tomltree.Quote(word))
}

func (j *converter) catchAll(f draft.File, label string, v *tomltree.Value, line int) (*draft.Rule, error) {
	m, err := jpMode(v.Text)
	if err != nil {
		return nil, err
	}
	return &draft.Rule{From: j.Add(f.Name, line, label+jpLiteral(v), v.Text), Mode: m}, nil
}

// jpMatchers are the conditions of D25, which have the same names here.
var jpMatchers = []string{"const", "enum", "pattern", "prefix", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum"}

// rule reads one rule of a list.
func (j *converter) rule(f draft.File, label string, v *tomltree.Value) (*draft.Rule, error) {
	if v.Kind != tomltree.Table {
		return nil, errors.New("a rule is no table")
	}
	mode := v.Get("mode")
	if mode == nil || mode.Value.Kind != tomltree.String {
		return nil, errors.New("a rule has no mode")
	}
	r, err := j.catchAll(f, "", mode.Value, draft.LineOfTable(v))
	if err != nil {
		return nil, err
	}
	r.From.Text = label + jpLiteral(v)
	c := draft.Condition{Arg: draft.First(v, "arg")}
	for _, e := range v.Entries {
		switch {
		case e.Key == "mode", e.Key == "arg" && e.Value.Kind == tomltree.String && strings.HasPrefix(c.Arg, "/"):
		case !slices.Contains(jpMatchers, e.Key):
			return nil, errors.New("a rule has a pointer `arg`, one matcher and a mode: " + e.Key + " is not known")
		case c.Matcher != "":
			return nil, errors.New("a rule has " + c.Matcher + " and " + e.Key + ": one matcher is allowed")
		default:
			c.Matcher, c.Raw = e.Key, jpLiteral(e.Value)
			if e.Value.Kind == tomltree.String {
				c.Values = []string{e.Value.Text}
			}
			for _, x := range e.Value.Elements {
				if x.Kind == tomltree.String && c.Matcher == "enum" {
					c.Values = append(c.Values, x.Text)
				}
			}
			c.Exact = e.Value.Kind != tomltree.String && len(c.Values) == 0
		}
	}
	if (c.Arg == "") != (c.Matcher == "") {
		return nil, errors.New("a rule with `arg` has one matcher, and a matcher has an `arg`")
	}
	if c.Matcher != "" {
		r.Conds = []draft.Condition{c}
	}
	return r, nil
}
