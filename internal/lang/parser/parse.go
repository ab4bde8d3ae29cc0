// Package parser reads policy files: it parses a text to a [syntax.File], and formats it in its
// canonical layout. Package syntax describes the language.
//
//	file, mistakes := parser.Parse(kinds.Table(), "stopgate.toml", text)
//	if mistakes.HasErrors() {
//		return mistakes
//	}
package parser

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// Version is the version of the language that this package reads.
const Version = "1"

// Parse parses one policy file, whose conditions are those of a table. The policy is nil if the text is not TOML. With other mistakes in
// the list it contains the readable part, so that policy.Check finds the remaining mistakes in the
// same run; it must not be used for anything else then.
func Parse(conditions *condition.Table, name string, text []byte) (*syntax.File, diag.List) {
	doc, diags := tomltree.Parse(name, text)
	if doc == nil {
		return nil, diags
	}
	p := new(parser)
	p.noKeys = new(syntax.RuleKeys)
	p.policy, p.diags = &syntax.File{Name: name, Conditions: conditions, Source: doc}, diags
	p.matchers, p.options = conditions.Keys(), conditions.OptionKeys()
	p.file(p.use(doc.Root))
	p.policy.Broken = p.diags.HasErrors()
	p.diags.Sort()
	return p.policy, p.diags
}

// reader reads the values of a file and reports those of the wrong type.
type reader struct {
	policy *syntax.File
	diags  diag.List
	legacy bool // a legacy spelling was reported
	// matchers are the keys of conditions, and their forms with "_in" for those that accept a named list (K60).
	matchers []string
	lists    map[string]*syntax.NamedList
	// mixed are the lists that the file writes as an array although a pack has one of the name.
	mixed   map[string]bool
	options []string // the further keys that some conditions may have
	noKeys  *syntax.RuleKeys
	// pointers are those of conditions by their texts: thousands of rules may have one.
	pointers map[string]jsonstream.Pointer
}

// ruleParser converts the TOML trees of rules and guards, sessionParser also those of session
// policies, and parser that of a file.
type (
	ruleParser    struct{ reader }
	sessionParser struct{ ruleParser }
	parser        struct{ sessionParser }
)

func (p *reader) report(code diag.Code, at diag.Range, message, hint string, related ...diag.Related) {
	for i := range related {
		related[i].File = p.policy.NameAt(related[i].Range)
	}
	p.diags.Add(diag.Diagnostic{
		Code: code, File: p.policy.NameAt(at), Range: at, Message: message, Hint: hint, Related: related,
	})
}

func (p *parser) file(root *tomltree.Value) {
	p.version(root)
	if e := root.Get("pack"); e != nil && p.isPack() && p.table(e) {
		p.known(e.Value, packKeys)
	}
	known := slices.Concat(topKeys, operational)
	if p.isPack() {
		known = slices.Concat(topKeys, []string{"pack"})
	}
	for _, e := range root.Entries {
		if e.Key == "conversation" {
			p.old(e.KeyRange, "`conversation.tools` is the old spelling", "write `[tools.NAME]`")
			continue
		}
		if !slices.Contains(known, e.Key) {
			p.report(diag.UnknownKey, e.KeyRange, "unknown key `"+tomltree.Key(e.Key)+"`", diag.DidYouMean(e.Key, known))
		}
	}
	p.gate(root.Get("gate"))
	p.paths(root.Get("paths"))
	p.namedLists(root.Get("lists"))
	p.sources(root.Get("sources"))
	p.flow(root.Get("flow"))
	p.tools(root)
	p.guards(root.Get("guard"))
	p.declarations(root)
	p.policy.Tables = make(map[string]*tomltree.Value)
	for _, name := range operational {
		if e := root.Get(name); e != nil && p.table(e) {
			p.policy.Tables[name] = e.Value
		}
	}
}

func (p *parser) version(root *tomltree.Value) {
	e := root.Get("version")
	switch {
	case e == nil:
		p.report(diag.MissingKey, p.policy.Source.Lines.Range(0, 0), "the file does not say which version of the language it is written in",
			"write `version = 1` in the first line")
	case e.Value.Kind != tomltree.Integer || e.Value.Text != Version:
		p.report(diag.BadVersion, e.Value.Range, "this stopgate reads version 1 of the language only", "write `version = 1`")
	}
}

// old reports a legacy spelling, once per file (K54).
func (p *reader) old(at diag.Range, message, hint string) {
	if !p.legacy {
		p.report(diag.LegacySpelling, at, message, hint)
	}
	p.legacy = true
}

// known reports the keys of a table that are in none of the lists.
func (p *reader) known(t *tomltree.Value, keys ...[]string) {
	for _, e := range t.Entries {
		if !slices.ContainsFunc(keys, func(list []string) bool { return slices.Contains(list, e.Key) }) {
			p.report(diag.UnknownKey, e.KeyRange, "unknown key `"+tomltree.Key(e.Key)+"`", didYouMean(e.Key, foreignKeys(), slices.Concat(keys...)))
		}
	}
}

// foreignKeys maps keys of other programs to the keys of rules.
func foreignKeys() map[string]string {
	return map[string]string{
		"action": "mode", "effect": "mode", "decision": "mode", "verdict": "mode", "permission": "mode", "regex": "pattern", "regexp": "pattern", "match_regex": "pattern",
		"matches": "pattern", "equals": "const", "one_of": "enum", "starts_with": "prefix", "ends_with": "suffix", "argument": "arg", "param": "arg", "parameter": "arg",
		"message": "reason", "comment": "note", "min": "minimum", "max": "maximum", "exists": "present", "domain": "host",
	}
}

// The readers below report an invalid value and then return ok = false. A nil entry is absent, not
// invalid.

func (p *reader) wrongType(e *tomltree.Entry, want string) {
	hint := ""
	switch {
	case want == anArrayOfTables && e.Value.Kind == tomltree.Table && !e.Value.Inline:
		hint = "write `[[" + tomltree.Key(e.Key) + "]]`, once for each"
	case strings.HasSuffix(e.Key, "_in") && e.Value.Kind == tomltree.Array:
		hint = "put the values into `[lists]` and name them here: `" + e.Key + " = \"NAME\"`"
	}
	p.report(diag.WrongType, e.Value.Range, fmt.Sprintf("`%s` must be %s, not %s", e.Key, want, e.Value.Kind), hint)
}

func (p *reader) table(e *tomltree.Entry) bool {
	if e.Value.Kind != tomltree.Table {
		p.wrongType(e, "a table")
		return false
	}
	return true
}

func (p *reader) text(e *tomltree.Entry) (text string, ok bool) {
	if e == nil {
		return "", false
	}
	if e.Value.Kind != tomltree.String {
		p.wrongType(e, "a string")
		return "", false
	}
	return e.Value.Text, true
}

func (p *reader) flag(e *tomltree.Entry) bool {
	if e == nil {
		return false
	}
	if e.Value.Kind != tomltree.Bool {
		p.wrongType(e, "true or false")
		return false
	}
	return e.Value.Text == "true"
}

// word reads one of the given words.
func (p *reader) word(e *tomltree.Entry, words ...string) (word string, ok bool) {
	if word, ok = p.text(e); !ok {
		return "", false
	}
	if !slices.Contains(words, word) {
		p.report(diag.BadValue, e.Value.Range, fmt.Sprintf("`%s` cannot be %q", e.Key, word), diag.DidYouMean(word, words))
		return "", false
	}
	return word, true
}

// texts reads a string or a non-empty array of strings.
func (p *reader) texts(e *tomltree.Entry) (values []*tomltree.Value) {
	switch {
	case e == nil:
		return nil
	case e.Value.Kind == tomltree.String:
		return []*tomltree.Value{e.Value}
	case e.Value.Kind != tomltree.Array:
		p.wrongType(e, "a string or an array of strings")
		return nil
	case len(e.Value.Elements) == 0:
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` is empty", "leave it out")
		return nil
	}
	for _, v := range e.Value.Elements {
		if v.Kind != tomltree.String {
			p.report(diag.WrongType, v.Range, fmt.Sprintf("`%s` holds strings, not %s", e.Key, v.Kind), "")
			continue
		}
		values = append(values, v)
	}
	return values
}

const anArrayOfTables = "an array of tables"

// elements reads an array of tables, in brackets or under [[headers]].
func (p *reader) elements(e *tomltree.Entry) []*tomltree.Value {
	if e == nil {
		return nil
	}
	if e.Value.Kind != tomltree.Array {
		p.wrongType(e, anArrayOfTables)
		return nil
	}
	var tables []*tomltree.Value
	for _, v := range e.Value.Elements {
		if v.Kind != tomltree.Table {
			p.report(diag.WrongType, v.Range, fmt.Sprintf("`%s` holds tables, not %s", e.Key, v.Kind), "")
			continue
		}
		tables = append(tables, v)
	}
	return tables
}

// textsOf returns the texts of string values.
func textsOf(values []*tomltree.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.Text)
	}
	return list
}
