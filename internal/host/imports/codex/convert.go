// Package codex converts the rules files and the settings of Codex; see package imports.
package codex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Convert converts the rules files of Codex, and approval_policy and sandbox_mode of a config.toml.
//
// A prefix rule matches a command by its first words; of all rules that match the strictest
// applies. Codex runs commands without a rule in its sandbox, which a policy cannot provide: they
// are asked about.
func Convert(files []draft.File, o draft.Options) (*draft.Result, error) {
	c := &converter{Draft: draft.Draft{Source: "the rules of Codex", Command: "codex-rules", Files: files, Options: o}}
	for _, f := range files {
		var err error
		if strings.HasSuffix(f.Name, ".toml") {
			err = c.config(f)
		} else {
			err = c.rulesFile(f)
		}
		if err != nil {
			return nil, err
		}
	}
	c.translate()
	return c.Finish()
}

type converter struct {
	draft.Draft
	prefixes          []codexRule
	approval, sandbox string
}

type codexRule struct {
	from           *draft.SourceRule
	mode           stopgate.Mode
	words          [][]string // alternatives for each word
	reason         string
	match, noMatch []string
}

// config reads the two settings that affect rules.
func (c *converter) config(f draft.File) error {
	doc, mistakes := tomltree.Parse(f.Name, f.Text)
	if mistakes.HasErrors() {
		return mistakes.Err()
	}
	if e := doc.Root.Get("approval_policy"); e != nil {
		c.approval = e.Value.Text
		if e.Value.Kind != tomltree.String {
			c.approval = "granular"
		}
	}
	if e := doc.Root.Get("sandbox_mode"); e != nil {
		c.sandbox = e.Value.Text
	}
	return nil
}

func (c *converter) rulesFile(f draft.File) error {
	list, err := calls(f)
	if err != nil {
		return err
	}
	for _, call := range list {
		wrong := func(format string, args ...any) error {
			return &draft.Error{File: f.Name, Line: call.line, Message: call.name + ": " + fmt.Sprintf(format, args...)}
		}
		switch call.name {
		case "prefix_rule":
			if err := c.prefixRule(f, call); err != nil {
				return wrong("%v", err)
			}
		case "network_rule":
			r := c.Add(f.Name, call.line, call.text, call.args["decision"].text)
			r.LeftOut("what commands reach over the network is up to the sandbox of Codex")
			if r.Decision != "allow" {
				c.Note("Rules about the network (network_rule) have no counterpart here: keep them in Codex.")
			}
		case "host_executable":
			r := c.Add(f.Name, call.line, call.text, "")
			r.LeftOut("programs that are named by their path are permitted only by rules that name the path")
		default:
			return wrong("no such rule is known")
		}
	}
	return nil
}

func (c *converter) prefixRule(f draft.File, call call) error {
	for name := range call.args {
		if !slices.Contains([]string{"pattern", "decision", "justification", "match", "not_match"}, name) {
			return fmt.Errorf("%s is not known", name)
		}
	}
	decision := "allow"
	if d := call.args["decision"]; d.isText {
		decision = d.text
	} else if d.isList {
		return fmt.Errorf("decision is not a string")
	}
	m, known := draft.Mode(decision)
	if !known || decision == "ask" || decision == "deny" {
		return fmt.Errorf("decision is %q: it can be allow, prompt or forbidden", decision)
	}
	pattern := call.args["pattern"]
	if !pattern.isList || len(pattern.list) == 0 {
		return fmt.Errorf("pattern is no list of words")
	}
	r := codexRule{from: c.Add(f.Name, call.line, call.text, decision), mode: m, reason: call.args["justification"].text}
	for _, e := range pattern.list {
		words := []value{e}
		if e.isList {
			words = e.list
		}
		var alternatives []string
		for _, w := range words {
			if !w.isText {
				return fmt.Errorf("a word of the pattern is not a string")
			}
			alternatives = append(alternatives, w.text)
		}
		if len(alternatives) == 0 {
			return fmt.Errorf("a word of the pattern has no alternatives")
		}
		r.words = append(r.words, alternatives)
	}
	r.match, r.noMatch = exampleTexts(call.args["match"]), exampleTexts(call.args["not_match"])
	c.prefixes = append(c.prefixes, r)
	return nil
}

// exampleTexts returns the examples that are plain words.
func exampleTexts(v value) (list []string) {
	for _, e := range v.list {
		text := e.text
		if e.isList {
			var parts []string
			for _, w := range e.list {
				if strings.Contains(w.text, " ") {
					parts = nil
					break
				}
				parts = append(parts, w.text)
			}
			text = strings.Join(parts, " ")
		}
		if draft.Words(text) {
			list = append(list, text)
		}
	}
	return list
}

// maxBeginnings is the maximum number of prefixes into which one rule is expanded.
const maxBeginnings = 256

func (c *converter) translate() {
	t := c.Shell("Bash", "timeout_ms")
	t.Also = append(t.Also, "exec_command")
	for _, r := range c.prefixes {
		if c.approval == "never" && r.mode == stopgate.Ask {
			r.mode = stopgate.Deny
			r.from.Stricter("denied, because approval_policy is never")
		}
		t.Put(r.rule())
	}
	slices.SortStableFunc(t.Rules, func(a, b *draft.Rule) int { return a.Rank - b.Rank })
	c.settings()
}

func (r codexRule) rule() *draft.Rule {
	permits := r.mode == stopgate.Unattended
	beginnings := []string{""}
	plainly := true
	for _, alternatives := range r.words {
		var next []string
		for _, b := range beginnings {
			for _, w := range alternatives {
				if !draft.Words(w) || strings.Contains(w, " ") {
					plainly = false
					continue
				}
				next = append(next, strings.TrimPrefix(b+" "+w, " "))
			}
		}
		beginnings = next
	}
	switch {
	case (len(beginnings) == 0 || len(beginnings) > maxBeginnings) && permits:
		r.from.LeftOut("its words are none that are plainly written, or too many")
		return nil
	case !permits && (!plainly || len(beginnings) > maxBeginnings):
		return r.generous()
	case !plainly:
		r.from.Stricter("only those of its words that are plainly written")
	}
	one := &draft.Rule{From: r.from, Mode: r.mode, Conds: []draft.Condition{draft.Prefixed(beginnings...)}, Match: r.match, NoMatch: r.noMatch}
	if len(one.Match) == 0 {
		one.Match = beginnings[:1]
	}
	if !permits {
		one.Reason = draft.ReasonOf(r.reason)
	}
	return one
}

// generous returns a restrictive rule as a pattern on the text without its quotes.
func (r codexRule) generous() *draft.Rule {
	var parts []string
	for _, alternatives := range r.words {
		var quoted []string
		for _, w := range alternatives {
			quoted = append(quoted, draft.QuoteMeta(strings.Join(strings.Fields(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(w)), " ")))
		}
		parts = append(parts, draft.Group(quoted))
	}
	p := strings.Join(parts, " ") + "(?: [^]*)?"
	r.from.Stricter("quotes are not looked at")
	return &draft.Rule{From: r.from, Mode: r.mode, Reason: draft.ReasonOf(r.reason), Conds: []draft.Condition{{Arg: "/command", Matcher: "pattern", Values: []string{"^" + p + "$"}, Sure: p}}}
}

func (c *converter) settings() {
	c.Note("Codex runs commands that no rule matches inside of its sandbox. Nothing here can promise a sandbox, so they are asked.")
	switch c.approval {
	case "never":
		c.Note(`approval_policy = "never": what a rule wants asked is denied.`)
	case "":
	default:
		c.Note("approval_policy = " + tomltree.Quote(c.approval) + ": what no rule permits is asked.")
	}
	if c.sandbox != "workspace-write" {
		if c.sandbox != "" {
			c.Note("sandbox_mode = " + tomltree.Quote(c.sandbox) + " is not translated: patches are asked.")
		}
		return
	}
	t := c.Table("apply_patch", draft.Param{Name: "patch_paths", Kind: "paths"}, draft.Param{Name: "command", Kind: "patch"}, draft.Param{Name: "input", Kind: "patch"}, draft.Param{Name: "patch", Kind: "patch"})
	t.Put(&draft.Rule{Mode: stopgate.Unattended, When: `{ surface = "hook" }`, Ignores: []string{"/command", "/input", "/patch"},
		Comment: "sandbox_mode workspace-write: patches of files of the project. The hook lists their files in patch_paths.",
		Conds:   []draft.Condition{{Arg: "/patch_paths", Matcher: "glob", Values: []string{draft.Inside}}}})
}
