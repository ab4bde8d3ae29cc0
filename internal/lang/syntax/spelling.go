package syntax

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// formatPart is one key of a rule in hints and identities: a value, or an array of items.
type formatPart struct {
	key   string
	value string
	items []string
}

func (p formatPart) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

func (p formatPart) write(b *strings.Builder) {
	b.WriteString(p.key)
	b.WriteString(" = ")
	if p.items == nil {
		b.WriteString(p.value)
		return
	}
	b.WriteByte('[')
	for i, item := range p.items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item)
	}
	b.WriteByte(']')
}

func joinParts(parts []formatPart) string {
	size := 0
	for _, p := range parts {
		size += len(p.key) + len(p.value) + len(" = [], ")
		for _, item := range p.items {
			size += len(item) + len(", ")
		}
	}
	var b strings.Builder
	b.Grow(size)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		p.write(&b)
	}
	return b.String()
}

// Text returns the rule on one line, as between the braces of a list.
func (r *Rule) Text() string { return joinParts(ruleParts(r, false)) }

// Meaning returns Text with the values of named lists written out and numbers in canonical form. It
// is equal for two rules with the same meaning.
func (r *Rule) Meaning() string { return joinParts(ruleParts(r, true)) }

// Lines returns the keys of the rule with their values in canonical order, as in a [[guard]] table.
func (r *Rule) Lines() []string {
	var lines []string
	for _, p := range ruleParts(r, false) {
		lines = append(lines, p.String())
	}
	return lines
}

// ruleParts lists the keys of a rule; spelled is for [Rule.Meaning].
func ruleParts(r *Rule, spelled bool) []formatPart {
	parts := make([]formatPart, 0, 8)
	if r.Compound {
		all := formatPart{key: "all", items: []string{}}
		for i := range r.Conditions {
			all.items = append(all.items, "{ "+joinParts(conditionParts(&r.Conditions[i], spelled))+" }")
		}
		parts = append(parts, all)
	} else {
		for i := range r.Conditions {
			parts = append(parts, conditionParts(&r.Conditions[i], spelled)...)
		}
	}
	add := func(key, value string) {
		parts = append(parts, formatPart{key: key, value: value})
	}
	if r.Match != QuantifierDefault {
		add("match", tomltree.Quote(r.Match.String()))
	}
	if r.SameText {
		add("same_text", "true")
	}
	if w := r.When; w != nil {
		var facts []formatPart
		for i, names := range [][]string{w.Agent, w.Surface, w.Server, w.Principal, w.Group} {
			if len(names) > 0 {
				facts = append(facts, namesPart(WhenKeys[i], names))
			}
		}
		if w.Session != nil {
			facts = append(facts, formatPart{key: "session", value: tomltree.Quote(w.Session.Pointer.String())})
			facts = append(facts, conditionParts(&Condition{Spec: w.Session.Spec}, spelled)[1:]...)
		}
		facts = append(facts, w.flowParts()...)
		add("when", "{ "+joinParts(facts)+" }")
	}
	if len(r.Conditions) > 0 && r.Conditions[0].IgnoreBelow {
		add("below", tomltree.Quote("ignore"))
	}
	add("mode", tomltree.Quote(r.Mode.String()))
	if r.Reason != "" {
		add("reason", tomltree.Quote(r.Reason))
	}
	if r.Note != "" {
		add("note", tomltree.Quote(r.Note))
	}
	if len(r.Ignores) > 0 {
		var pointers []string
		for _, p := range r.Ignores {
			pointers = append(pointers, p.String())
		}
		parts = append(parts, formatPart{key: "ignores", items: strs(pointers)})
	}
	if r.AllowUnsafePrefix {
		add("allow_unsafe_prefix", "true")
	}
	return parts
}

// namesPart is a name, or an array of several.
func namesPart(key string, names []string) formatPart {
	if len(names) == 1 {
		return formatPart{key: key, value: tomltree.Quote(names[0])}
	}
	return formatPart{key: key, items: strs(names)}
}

var quantifiers = [...]string{QuantifierAny: "any", QuantifierAll: "all"}

// String returns the quantifier as policy files spell it, "" for the default.
func (q Quantifier) String() string { return quantifiers[min(q, QuantifierAll)] }

func conditionParts(c *Condition, spelled bool) []formatPart {
	about := formatPart{key: "arg", value: tomltree.Quote(c.Arg.String())}
	switch {
	case c.On != "":
		about = formatPart{key: "on", value: tomltree.Quote(c.On)}
	case c.Every:
		about.value = `"*"`
	}
	parts := append(make([]formatPart, 0, 3), about)
	key := c.Spec.Kind.String()
	switch {
	case spelled:
		texts := make([]string, 0, len(c.Spec.Values))
		for _, l := range c.Spec.Values {
			texts = append(texts, l.JSON)
		}
		slices.Sort(texts)
		parts = append(parts, formatPart{key: key, items: slices.Compact(texts)})
	case c.Spec.List != "":
		parts = append(parts, formatPart{key: key + "_in", value: tomltree.Quote(c.Spec.List)})
	case len(c.Spec.Values) > 1, c.Spec.Row().Values == condition.Many:
		parts = append(parts, formatPart{key: key, items: literals(c.Spec.Values)})
	default:
		parts = append(parts, formatPart{key: key, value: literals(c.Spec.Values)[0]})
	}
	for _, o := range c.Spec.Options {
		if spelled && o.Value.Kind == condition.LiteralBool && o.Value.Text == "false" {
			continue // as if it were absent
		}
		parts = append(parts, formatPart{key: o.Key, value: literalText(o.Value)})
	}
	if c.Match != QuantifierDefault {
		parts = append(parts, formatPart{key: "match", value: tomltree.Quote(c.Match.String())})
	}
	return parts
}

func strs(texts []string) []string {
	list := []string{}
	for _, t := range texts {
		list = append(list, tomltree.Quote(t))
	}
	return list
}

func literals(values []condition.Literal) []string {
	list := []string{}
	for _, l := range values {
		list = append(list, literalText(l))
	}
	return list
}

// literalText writes a literal as TOML.
func literalText(l condition.Literal) string {
	switch l.Kind {
	case condition.LiteralString:
		return tomltree.Quote(l.Text)
	case condition.LiteralNumber:
		return numberText(l.Text)
	case condition.LiteralBool:
		return l.Text
	case condition.LiteralNull:
		return nullText
	}
	// The literal is canonical JSON that this package wrote.
	v, _ := jsonstream.Parse([]byte(l.JSON), jsonstream.Options{MaxDepth: 512, MaxExponent: jsonstream.AnyExponent})
	return jsonText(v)
}

// nullText is null in TOML, which has no literal for it.
const nullText = "{ null = true }"

// numberText writes a plain number if every TOML parser accepts it (K26).
func numberText(text string) string {
	plain := false
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		plain = err == nil && !math.IsInf(f, 0)
	} else {
		_, err := strconv.ParseInt(text, 10, 64)
		plain = err == nil
	}
	if plain {
		return text
	}
	return "{ number = " + tomltree.Quote(text) + " }"
}

// jsonText converts a JSON value that was read from TOML back to TOML.
func jsonText(v jsonstream.Value) string {
	var parts []string
	switch v.Kind() {
	case jsonstream.Object:
		for key, member := range v.Members() {
			parts = append(parts, tomltree.Key(key.Text())+" = "+jsonText(member))
		}
		if parts == nil {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case jsonstream.Array:
		for element := range v.Elements() {
			parts = append(parts, jsonText(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonstream.String:
		return tomltree.Quote(v.Text())
	case jsonstream.Number:
		return numberText(string(v.Raw()))
	case jsonstream.Null:
		return nullText
	}
	return string(v.Raw())
}

// Text returns the condition's matcher as it is written, shortened to 60 characters.
func (k *Condition) Text() string {
	parts := conditionParts(k, false)[1:]
	text := joinParts(parts[:1+len(k.Spec.Options)])
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:57]) + "..."
	}
	return text
}

// WhenKeys are the facts of a call in `when`, in the order of [When].
var WhenKeys = []string{"agent", "surface", "server", "principal", "group", "session", "says", "anywhere", "effect"}
