package imports

import (
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// JP converts the tables conversation.tools of JP's configuration, with the rules on arguments of
// its RFD D25. Later files are merged into earlier ones key by key, and the files that one extends
// before or after it, if [Options.Extend] reads them.
//
// The list of a tool is policy.run, without one run, without one that of "*"; the first rule that
// matches decides, and without a match JP asks. In JP one matching element of an array is enough
// for every rule; a policy permits only if all of them match.
func JP(files []File, o Options) (*Result, error) {
	j := &jp{draft: draft{source: "the tool configuration of JP", command: "jp", files: files, options: o}, tools: map[string]*jpTool{}}
	j.defaults = &jpTool{name: "*"}
	for _, f := range files {
		if j.alone != "" {
			j.note(j.alone + " sets inherit = false, so JP does not read " + f.Name + ".")
			continue
		}
		if err := j.read(f); err != nil {
			return nil, err
		}
	}
	if err := j.translate(); err != nil {
		return nil, err
	}
	return j.finish()
}

type jp struct {
	draft
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
	offAt  *Rule
	lists  map[string]*jpList // run, result, policy.run, policy.result
	params []*jpParam
	// unnamed is set if a rule is about a parameter that the configuration does not have.
	unnamed bool
}

// jpList is a mode, or a list of rules.
type jpList struct {
	key   string
	rules []*rule
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

func (j *jp) read(f File) error {
	if slices.Contains(j.seen, f.Name) {
		return nil
	}
	j.seen = append(j.seen, f.Name)
	if !slices.ContainsFunc(j.files, func(o File) bool { return o.Name == f.Name }) {
		j.files = append(j.files, f)
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
func (j *jp) extended(f File, root *tomltree.Value) (before, after []File, err error) {
	e := root.Get("extends")
	if e == nil {
		return nil, nil, nil
	}
	if e.Value.Kind != tomltree.Array {
		return nil, nil, &Error{f.Name, e.KeyRange.Start.Line, "extends is no list"}
	}
	for _, v := range e.Value.Elements {
		name, strategy := v.Text, "before"
		if v.Kind == tomltree.Table {
			name = first(v, "path")
			if s := first(v, "strategy"); s != "" {
				strategy = s
			}
		}
		if name == "" || strategy != "before" && strategy != "after" {
			return nil, nil, &Error{f.Name, v.Range.Start.Line, "a file that is extended is a path, or a table of path and strategy (before, after)"}
		}
		var found []File
		if j.options.Extend != nil {
			if found, err = j.options.Extend(f.Name, name); err != nil {
				return nil, nil, &Error{f.Name, v.Range.Start.Line, err.Error()}
			}
		}
		if len(found) == 0 {
			j.note(f.Name + " extends " + name + ", where no file was read.")
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
func (j *jp) own(f File, root *tomltree.Value) error {
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
			return &Error{f.Name, e.KeyRange.Start.Line, key + " is no table"}
		}
	}
	for _, e := range tools.Entries {
		if e.Value.Kind != tomltree.Table {
			return &Error{f.Name, e.KeyRange.Start.Line, e.Key + " is no table"}
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
			return &Error{f.Name, e.KeyRange.Start.Line, t.name + " is no name of a tool"}
		}
		if err := j.tool(f, t, e.Value, keys); err != nil {
			return err
		}
	}
	return nil
}

// tool merges one table into those of earlier files.
func (j *jp) tool(f File, t *jpTool, v *tomltree.Value, keys []string) error {
	for _, e := range v.Entries {
		wrong := func(message string) error { return &Error{f.Name, e.KeyRange.Start.Line, t.name + ": " + message} }
		if !slices.Contains(keys, e.Key) {
			return wrong(e.Key + " is not known")
		}
		if n := jpNotes[e.Key]; n != "" {
			j.note(n)
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
func (j *jp) enable(f File, t *jpTool, e *tomltree.Entry) error {
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
		t.offAt.leftOut("%s decides", f.Name)
	}
	t.off, t.offAt = &off, nil
	if off {
		t.offAt = j.add(f.Name, e.KeyRange.Start.Line, t.name+": enable = "+jpLiteral(e.Value), "enable")
	}
	return nil
}

// list reads a mode or a list of rules, which replaces that of earlier files.
func (j *jp) list(f File, t *jpTool, key string, e *tomltree.Entry) error {
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
			r.from.leftOut("%s decides", f.Name)
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

func (j *jp) catchAll(f File, label string, v *tomltree.Value, line int) (*rule, error) {
	m, err := jpMode(v.Text)
	if err != nil {
		return nil, err
	}
	return &rule{from: j.add(f.Name, line, label+jpLiteral(v), v.Text), mode: m}, nil
}

// jpMatchers are the conditions of D25, which have the same names here.
var jpMatchers = []string{"const", "enum", "pattern", "prefix", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum"}

// rule reads one rule of a list.
func (j *jp) rule(f File, label string, v *tomltree.Value) (*rule, error) {
	if v.Kind != tomltree.Table {
		return nil, errors.New("a rule is no table")
	}
	mode := v.Get("mode")
	if mode == nil || mode.Value.Kind != tomltree.String {
		return nil, errors.New("a rule has no mode")
	}
	r, err := j.catchAll(f, "", mode.Value, lineOfTable(v))
	if err != nil {
		return nil, err
	}
	r.from.Text = label + jpLiteral(v)
	c := cond{arg: first(v, "arg")}
	for _, e := range v.Entries {
		switch {
		case e.Key == "mode", e.Key == "arg" && e.Value.Kind == tomltree.String && strings.HasPrefix(c.arg, "/"):
		case !slices.Contains(jpMatchers, e.Key):
			return nil, errors.New("a rule has a pointer `arg`, one matcher and a mode: " + e.Key + " is not known")
		case c.matcher != "":
			return nil, errors.New("a rule has " + c.matcher + " and " + e.Key + ": one matcher is allowed")
		default:
			c.matcher, c.raw = e.Key, jpLiteral(e.Value)
			if e.Value.Kind == tomltree.String {
				c.values = []string{e.Value.Text}
			}
			for _, x := range e.Value.Elements {
				if x.Kind == tomltree.String && c.matcher == "enum" {
					c.values = append(c.values, x.Text)
				}
			}
			c.exact = e.Value.Kind != tomltree.String && len(c.values) == 0
		}
	}
	if (c.arg == "") != (c.matcher == "") {
		return nil, errors.New("a rule with `arg` has one matcher, and a matcher has an `arg`")
	}
	if c.matcher != "" {
		r.conds = []cond{c}
	}
	return r, nil
}
