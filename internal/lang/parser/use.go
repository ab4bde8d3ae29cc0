package parser

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/packs"
)

// packKeys are the keys of [pack], the head of a pack. ownRules is the key of the element of a rule
// list at which the rules of the file, and of the packs before, are inserted: `{ rules = "own" }`.
var packKeys = []string{"version", "about", "permits", "servers"}

const ownRules = "rules"

// isPack reports whether the file is a pack.
func (p *reader) isPack() bool { return strings.HasPrefix(p.policy.Name, packs.Prefix) }

// packOf returns the name of the pack that a range belongs to, "" for one of the file itself.
func (p *reader) packOf(at diag.Range) string {
	if at.Pack == 0 {
		return ""
	}
	return p.policy.NameAt(at)
}

// use reads `use`, the packs of the file, and returns its root with what they add. The file itself
// comes first everywhere, then the packs in their order; a pack that is named twice counts once.
func (p *parser) use(root *tomltree.Value) *tomltree.Value {
	texts := []*tomltree.Value{root}
	p.addPacks(root, &texts)
	p.servers(root.Get("servers"))
	if len(texts) == 1 && !p.isPack() {
		return root
	}
	return p.merge(texts)
}

// addPacks appends the roots of the packs that a file or pack uses.
func (p *parser) addPacks(root *tomltree.Value, texts *[]*tomltree.Value) {
	for _, v := range p.texts(root.Get("use")) {
		pack, ok := p.pack(v)
		if !ok || slices.ContainsFunc(p.policy.Packs, func(used syntax.Pack) bool { return used.Name == pack.Name }) {
			continue
		}
		doc, mistakes := tomltree.ParsePack(pack.File(), pack.Text, uint16(len(p.policy.Packs)+1))
		if p.diags = append(p.diags, mistakes...); doc == nil {
			continue
		}
		p.policy.Packs = append(p.policy.Packs, syntax.Pack{Name: pack.Name, Version: pack.Version, Source: doc})
		*texts = append(*texts, doc.Root)
		p.addPacks(doc.Root, texts)
	}
}

// pack returns the pack that an element of `use` names: NAME, or NAME@VERSION.
func (p *parser) pack(v *tomltree.Value) (pack packs.Pack, ok bool) {
	name, version, pinned := strings.Cut(v.Text, "@")
	if pack, ok = packs.Lookup(name); !ok {
		hint := diag.DidYouMean(name, packs.Names())
		if hint == "" {
			hint = "`stopgate packs` lists them"
		}
		p.report(diag.BadValue, v.Range, fmt.Sprintf("there is no pack %q", name), hint)
		return pack, false
	}
	if pinned && version != strconv.Itoa(pack.Version) {
		p.report(diag.BadValue, v.Range, fmt.Sprintf("this stopgate has version %d of the pack %q", pack.Version, name),
			fmt.Sprintf("read `stopgate packs show %s`, then write `%s@%d`, or `%s` for the version of the program", name, name, pack.Version, name))
		return pack, false
	}
	return pack, true
}

// merge returns one root for the roots of a file and its packs.
func (p *parser) merge(texts []*tomltree.Value) *tomltree.Value {
	p.mixed = make(map[string]bool)
	return mergeTables(texts, func(key string, parts []*tomltree.Entry) *tomltree.Entry {
		switch key {
		case "guard", "session", "handoffs":
			return concat(parts)
		case "lists":
			return mergeMembers(parts, p.mergeList)
		case "tools":
			return p.mergeTools(parts)
		case "gate", "flow", "sources":
			return mergeMembers(parts, first)
		}
		return parts[0]
	}, func(key string, of *tomltree.Entry) bool {
		// The rest of a pack is about the pack itself.
		return of.KeyRange.Pack == 0 || slices.Contains([]string{"guard", "session", "handoffs", "lists", "tools", "gate", "flow", "sources"}, key)
	})
}

// mergeTables merges tables member by member, in the order of their first occurrence.
func mergeTables(tables []*tomltree.Value, join func(key string, parts []*tomltree.Entry) *tomltree.Entry, keep func(string, *tomltree.Entry) bool) *tomltree.Value {
	var keys []string
	parts := make(map[string][]*tomltree.Entry)
	for _, t := range tables {
		for _, e := range t.Entries {
			if keep != nil && !keep(e.Key, e) {
				continue
			}
			if parts[e.Key] == nil {
				keys = append(keys, e.Key)
			}
			parts[e.Key] = append(parts[e.Key], e)
		}
	}
	var entries []*tomltree.Entry
	for _, key := range keys {
		entries = append(entries, join(key, parts[key]))
	}
	return tables[0].With(entries)
}

// mergeMembers merges entries whose values are tables. With another value, which is reported later,
// the first entry counts.
func mergeMembers(parts []*tomltree.Entry, join func(key string, parts []*tomltree.Entry) *tomltree.Entry) *tomltree.Entry {
	var tables []*tomltree.Value
	for _, e := range parts {
		if e.Value.Kind != tomltree.Table {
			return e
		}
		tables = append(tables, e.Value)
	}
	return with(parts[0], mergeTables(tables, join, nil))
}

// first returns the entry of the file, or of the first pack that has it.
func first(_ string, parts []*tomltree.Entry) *tomltree.Entry { return parts[0] }

func with(e *tomltree.Entry, v *tomltree.Value) *tomltree.Entry {
	return &tomltree.Entry{Key: e.Key, KeyRange: e.KeyRange, Value: v}
}

// concat joins arrays.
func concat(parts []*tomltree.Entry) *tomltree.Entry {
	var elements []*tomltree.Value
	for _, e := range parts {
		if e.Value.Kind != tomltree.Array {
			return e // reported later
		}
		elements = append(elements, e.Value.Elements...)
	}
	return with(parts[0], parts[0].Value.WithElements(elements))
}

// mergeList joins the values of a list. In the file it may also be a table: `add` are further values,
// `without` those of the packs that do not count.
func (p *parser) mergeList(_ string, parts []*tomltree.Entry) *tomltree.Entry {
	own := parts[0]
	if own.KeyRange.Pack != 0 || own.Value.Kind != tomltree.Table {
		if own.KeyRange.Pack == 0 && len(parts) > 1 {
			p.mixed[own.Key] = true
		}
		return distinct(concat(parts))
	}
	p.known(own.Value, []string{"add", "without"})
	if len(parts) == 1 {
		p.report(diag.BadValue, own.Value.Range, "no pack has a list `"+own.Key+"`", "write an array of values")
		return own
	}
	joined := distinct(concat(parts[1:]))
	elements := slices.Clone(joined.Value.Elements)
	for _, v := range p.texts(own.Value.Get("without")) {
		n := len(elements)
		elements = slices.DeleteFunc(elements, func(e *tomltree.Value) bool { return e.Kind == v.Kind && e.Text == v.Text })
		if len(elements) == n {
			p.report(diag.BadValue, v.Range, fmt.Sprintf("no pack has %q in the list `%s`", v.Text, own.Key), "copy it from `stopgate packs show`")
		}
	}
	if add := own.Value.Get("add"); add != nil {
		if add.Value.Kind != tomltree.Array {
			p.wrongType(add, "an array of values")
			return own
		}
		elements = append(slices.Clone(add.Value.Elements), elements...)
	}
	return with(own, joined.Value.WithElements(elements))
}

// mixedLists reports a rule of the file that permits what a pack has in a list of the same name. Lists
// are joined, so that the author of `network = ["curl x"]` would permit every command of the pack's list.
func (p *ruleParser) mixedLists(r *syntax.Rule) {
	if r.Pack != "" || !r.Mode.Permissive() {
		return
	}
	for _, c := range r.Conditions {
		if name := c.Spec.List; name != "" && p.mixed[name] {
			p.report(diag.BadCondition, c.ValuePos, "a pack has a list `"+name+"` too, and this rule would permit its values",
				"give your list another name; if you mean both, write `"+name+" = { add = [...] }`")
		}
	}
}

// distinct leaves out values that an array has already.
func distinct(e *tomltree.Entry) *tomltree.Entry {
	if e.Value.Kind != tomltree.Array {
		return e
	}
	seen := make(map[string]bool)
	return with(e, e.Value.WithElements(slices.DeleteFunc(slices.Clone(e.Value.Elements), func(v *tomltree.Value) bool {
		if v.Kind != tomltree.String || v.Range.Pack == 0 {
			seen[v.Text] = seen[v.Text] || v.Kind == tomltree.String
			return false
		}
		before := seen[v.Text]
		seen[v.Text] = true
		return before
	})))
}

// mergeTool joins one key of the tables of a tool.
func (p *parser) mergeTool(key string, parts []*tomltree.Entry) *tomltree.Entry {
	switch key {
	case "also":
		return distinct(concat(parts))
	case "parameters":
		return mergeMembers(parts, first)
	case "policy":
		return mergeMembers(parts, func(_ string, lists []*tomltree.Entry) *tomltree.Entry { return p.mergeRules(lists) })
	}
	return parts[0]
}

// mergeRules joins the rule lists of a tool. The one that marks a place for the rules of others, as
// packs with denials at their beginning do, gets them there; without one they follow each other.
// Denials that begin the rules of others stay in front of all: no question of the host may come before
// them. A mode of the file itself replaces all.
func (p *parser) mergeRules(parts []*tomltree.Entry) *tomltree.Entry {
	host, at := -1, 0
	lists := make([][]*tomltree.Value, len(parts))
	for i, e := range parts {
		switch {
		case e.Value.Kind == tomltree.Array:
			lists[i] = e.Value.Elements
		case e.Value.Kind == tomltree.String && i > 0:
			lists[i] = []*tomltree.Value{e.Value.Mode()}
		default:
			return e
		}
		if n := slices.IndexFunc(lists[i], isPlace); n >= 0 {
			host, at = i, n
		}
	}
	if host < 0 {
		return with(parts[0], parts[0].Value.WithElements(slices.Concat(lists...)))
	}
	others := slices.Concat(slices.Delete(slices.Clone(lists), host, host+1)...)
	n := 0
	for n < len(others) && denies(others[n]) {
		n++
	}
	elements := slices.Concat(others[:n], lists[host][:at], others[n:], lists[host][at+1:])
	return with(parts[0], parts[0].Value.WithElements(elements))
}

// denies reports whether a rule denies, in every case that it matches.
func denies(v *tomltree.Value) bool {
	mode := v.Get("mode")
	return v.Kind == tomltree.Table && mode != nil && mode.Value.Kind == tomltree.String && mode.Value.Text == stopgate.Deny.String()
}

// isPlace reports whether an element of a rule list is the place for the rules of others.
func isPlace(v *tomltree.Value) bool { return v.Kind == tomltree.Table && v.Get(ownRules) != nil }
