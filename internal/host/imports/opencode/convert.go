// Package opencode converts the permissions of opencode, and of Kilo Code, which has the same; see package
// imports.
package opencode

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/host/jsonc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Convert converts the permission settings of opencode.json or opencode.jsonc. Later files are
// merged into earlier ones.
//
// The last rule whose names match applies: the name of the permission and the command, file or
// address. "*" is any text, "?" any character, " *" at the end also "". Files outside of the
// project are asked about in addition. opencode runs calls without a rule; the policy asks about
// them, unless a rule for "*" matches.
func Convert(files []draft.File, o draft.Options) (*draft.Result, error) {
	return (&converter{Draft: draft.Draft{Source: "the permissions of opencode", Command: "opencode", Files: files, Options: o}, permissions: opencodePermissions}).convertFiles()
}

func (c *converter) convertFiles() (*draft.Result, error) {
	for _, f := range c.Files {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.translate()
	return c.Finish()
}

type converter struct {
	draft.Draft
	permissions []permission
	// ahead returns rules that the agent applies before one that permits calls of a permission.
	ahead   func(r opencodeRule, p permission) []opencodeRule
	list    []opencodeRule
	outside stopgate.Mode // for files outside of the project
}

// opencodeRule is one rule, in the order of the merged settings.
type opencodeRule struct {
	from    *draft.SourceRule
	key     string // the permission, or a text with wildcards
	pattern string
	mode    stopgate.Mode
	agent   string
}

func (c *converter) read(f draft.File) error {
	text := jsonc.Plain(bytes.TrimPrefix(f.Text, []byte("\ufeff")))
	f.Text = text
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return &draft.Error{File: f.Name, Message: err.Error()}
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

func (c *converter) permission(f draft.File, v jsonstream.Value, agent string) error {
	wrong := func(v jsonstream.Value) error {
		return &draft.Error{File: f.Name, Line: draft.LineOf(f.Text, v), Message: "a permission is allow, ask or deny, or an object of them"}
	}
	rule := func(v jsonstream.Value, key, pattern string) error {
		m, ok := draft.Mode(v.Text())
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
func (c *converter) put(f draft.File, v jsonstream.Value, r opencodeRule, text, decision string) {
	r.from = c.Add(f.Name, draft.LineOf(f.Text, v), text, decision)
	for i, o := range c.list {
		if o.key == r.key && o.pattern == r.pattern && o.agent == r.agent && o.from.File != f.Name {
			o.from.LeftOut("%s says otherwise", f.Name)
			c.list[i] = r
			return
		}
	}
	c.list = append(c.list, r)
}
