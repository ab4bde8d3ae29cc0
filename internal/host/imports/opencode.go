package imports

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/jsonc"
	"github.com/stopgate/stopgate/jsonstream"
)

// OpenCode converts the permission settings of opencode.json or opencode.jsonc. Later files are
// merged into earlier ones.
//
// The last rule whose names match applies: the name of the permission and the command, file or
// address. "*" is any text, "?" any character, " *" at the end also "". Files outside of the
// project are asked about in addition. opencode runs calls without a rule; the policy asks about
// them, unless a rule for "*" matches.
func OpenCode(files []File, o Options) (*Result, error) {
	return (&opencode{draft: draft{source: "the permissions of opencode", command: "opencode", files: files, options: o}, permissions: opencodePermissions}).convertFiles()
}

func (c *opencode) convertFiles() (*Result, error) {
	for _, f := range c.files {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.translate()
	return c.finish()
}

type opencode struct {
	draft
	permissions []permission
	// ahead returns rules that the agent applies before one that permits calls of a permission.
	ahead   func(r opencodeRule, p permission) []opencodeRule
	list    []opencodeRule
	outside stopgate.Mode // for files outside of the project
}

// opencodeRule is one rule, in the order of the merged settings.
type opencodeRule struct {
	from    *Rule
	key     string // the permission, or a text with wildcards
	pattern string
	mode    stopgate.Mode
	agent   string
}

func (c *opencode) read(f File) error {
	text := jsonc.Plain(bytes.TrimPrefix(f.Text, []byte("\ufeff")))
	f.Text = text
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return &Error{File: f.Name, Message: err.Error()}
	}
	if v, ok := root.Get("tools"); ok && v.Kind() == jsonstream.Object {
		for key, on := range v.Members() {
			if on.Kind() == jsonstream.False {
				c.put(f, on, opencodeRule{key: key.Text(), pattern: "*", mode: stopgate.Deny}, "tools: "+key.Text()+" false", "deny")
			}
		}
	}
	if v, ok := root.Get("permission"); ok {
		if err := c.permission(f, v, ""); err != nil {
			return err
		}
	}
	for _, member := range []string{"mode", "agent"} { // "mode" is the older name
		agents, _ := root.Get(member)
		if agents.Kind() != jsonstream.Object {
			continue
		}
		for name, agent := range agents.Members() {
			if v, ok := agent.Get("permission"); ok {
				if err := c.permission(f, v, name.Text()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *opencode) permission(f File, v jsonstream.Value, agent string) error {
	wrong := func(v jsonstream.Value) error {
		return &Error{f.Name, lineOf(f.Text, v), "a permission is allow, ask or deny, or an object of them"}
	}
	rule := func(v jsonstream.Value, key, pattern string) error {
		m, ok := mode(v.Text())
		if v.Kind() != jsonstream.String || !ok {
			return wrong(v)
		}
		text := key + ": " + v.Text()
		if pattern != "*" {
			text = key + ": " + pattern + ": " + v.Text()
		}
		if agent != "" {
			text = "agent " + agent + ": " + text
		}
		c.put(f, v, opencodeRule{key: key, pattern: pattern, mode: m, agent: agent}, text, v.Text())
		return nil
	}
	switch v.Kind() {
	case jsonstream.String:
		return rule(v, "*", "*")
	case jsonstream.Object:
	default:
		return wrong(v)
	}
	for key, w := range v.Members() {
		if w.Kind() != jsonstream.Object {
			if err := rule(w, key.Text(), "*"); err != nil {
				return err
			}
			continue
		}
		for pattern, x := range w.Members() {
			if err := rule(x, key.Text(), pattern.Text()); err != nil {
				return err
			}
		}
	}
	return nil
}

// put adds a rule. A later file's replaces an earlier one's with the same names, as merged objects
// do.
func (c *opencode) put(f File, v jsonstream.Value, r opencodeRule, text, decision string) {
	r.from = c.add(f.Name, lineOf(f.Text, v), text, decision)
	for i, o := range c.list {
		if o.key == r.key && o.pattern == r.pattern && o.agent == r.agent && o.from.File != f.Name {
			o.from.leftOut("%s says otherwise", f.Name)
			c.list[i] = r
			return
		}
	}
	c.list = append(c.list, r)
}
