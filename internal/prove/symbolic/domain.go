package symbolic

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// domain is the set of values that the schema allows where a condition looks. Of
// combinations it uses only the limits that surely hold, so it may be too large.
func (t *Translation) domain(k *Condition) analysis.Domain {
	types := k.Reach.Types &^ (schema.Array | schema.Null)
	if k.Reach.Unknown || k.Reach.Types == 0 {
		types = schema.AnyType &^ (schema.Array | schema.Null)
	}
	d := analysis.Domain{
		Text: types&schema.String != 0, Number: types&(schema.Number|schema.Integer) != 0,
		Boolean: types&schema.Boolean != 0, Object: types&schema.Object != 0,
		Whole: types&schema.Integer != 0 && types&schema.Number == 0,
	}
	d.Odd = func(text string) bool { return !plaintext.IsPlainText(text) }
	if slices.Contains(k.Readings, schema.Path) {
		// Where the root is not known, an absolute path may be a relative one.
		d.Odd = func(text string) bool {
			return !isASCII(text) || strings.HasPrefix(text, "/") || !pathname.IsPlainPath(text, k.Reach.Expands)
		}
	}
	if len(k.Readings) == 1 && k.Readings[0] == schema.Path {
		d.Languages = func() (inside, outside []automaton.Walker) { return pathname.PlainPaths(t.Env, k.Reach.Expands) }
	}
	if a := k.Readings[0]; len(k.Readings) == 1 && (a == schema.Command || a == schema.URL) {
		d.Key = func(text string) (string, bool) { return inclusion.Key(k.scratch(text), a) }
	}
	form := k.form()
	if form == asVector {
		d.Admits = func(v analysis.Value) bool { _, ok := commandline.Words(v.Text); return ok }
	}
	if t.Welcome != nil {
		d.Welcome = func(v analysis.Value) bool { return t.Welcome(k.Reach.Annotation, v) }
	}
	if k.Reach.Unknown {
		return d
	}
	pointer, err := jsonstream.ParsePointer(k.Reach.Expanded)
	if err != nil {
		return d
	}
	t.limits(&d, nodesAt(t.Schema, pointer), k)
	return d
}

// limits adds the limits of nodes on their values.
func (t *Translation) limits(d *analysis.Domain, nodes []*schema.Node, k *Condition) {
	var limited []*schema.Schema
	for _, n := range nodes {
		d.Intervals = bounded(d.Intervals, n, d.Whole)
		if n.HasEnum && d.Enum == nil {
			d.Enum = enumerated(n.Enum, k)
		}
		if n.Const.IsValid() && d.Enum == nil {
			d.Enum = enumerated([]jsonstream.Value{n.Const}, k)
		}
		if n.HasEnum || n.Const.IsValid() || n.Pattern != nil || n.MinLength != nil || n.MaxLength != nil || n.MultipleOf != nil ||
			n.MinItems != nil || n.MaxItems != nil || n.UniqueItems || n.Not != nil || n.Minimum != nil || n.Maximum != nil || n.ExclusiveMinimum != nil || n.ExclusiveMaximum != nil ||
			len(n.Required) > 0 || n.HasProperties || n.Additional != schema.AdditionalUnset || len(n.AnyOf)+len(n.OneOf) > 0 {
			limited = append(limited, &schema.Schema{Root: n})
		}
	}
	if len(limited) == 0 {
		return
	}
	if k.Reach.Annotation == schema.None && d.Languages == nil {
		d.Languages = func() (inside, outside []automaton.Walker) { return textLimits(nodes), nil }
	}
	form := k.form()
	d.Admits = func(v analysis.Value) bool {
		value, err := jsonstream.Parse(appendLeaf(nil, v, form), jsonstream.Options{})
		return err == nil && !slices.ContainsFunc(limited, func(s *schema.Schema) bool { return s.Validate(value) != nil })
	}
}

// textLimits are automata of the limits of nodes on texts, as far as they are small.
func textLimits(nodes []*schema.Node) (list []automaton.Walker) {
	add := func(l *regular.Language) {
		if w := l.Walker(); w != nil {
			list = append(list, w)
		}
	}
	for _, n := range nodes {
		if n.Pattern != nil {
			add(n.Pattern.Language())
		}
		least, most := 0, -1
		if n.MinLength != nil {
			least = *n.MinLength
		}
		if n.MaxLength != nil {
			most = *n.MaxLength
		}
		const small = 256 // a state for each length
		if least <= small && most <= small && (least > 0 || most >= 0) {
			add(regular.Length(least, most))
		}
	}
	return list
}

// enumerated lists the values of an enum, nil if some of them are not written as
// analysis writes them.
func enumerated(list []jsonstream.Value, k *Condition) []analysis.Value {
	out := []analysis.Value{}
	for _, v := range list {
		if v.Kind() == jsonstream.Null {
			continue
		}
		leaf, ok := leafOf(v, k)
		if !ok {
			return nil
		}
		out = append(out, leaf)
	}
	return out
}

// bounded narrows intervals to a node's bounds.
func bounded(list []analysis.Interval, n *schema.Node, whole bool) []analysis.Interval {
	for _, b := range []struct {
		limit *jsonstream.Decimal
		kind  condition.Kind
	}{
		{n.Minimum, condition.Minimum}, {n.Maximum, condition.Maximum},
		{n.ExclusiveMinimum, condition.ExclusiveMinimum}, {n.ExclusiveMaximum, condition.ExclusiveMaximum},
	} {
		if b.limit == nil {
			continue
		}
		if list == nil {
			list = []analysis.Interval{analysis.Everything}
		}
		in := rangeOf(b.kind, *b.limit)
		if whole {
			in = in.Integers()
		}
		list = analysis.Intersect(list, in)
	}
	return list
}

// nodesAt lists the nodes that surely apply where a pointer leads, with "*" for the
// elements of arrays.
func nodesAt(s *schema.Schema, pointer jsonstream.Pointer) []*schema.Node {
	if s == nil || s.Root == nil {
		return nil
	}
	now := applying([]*schema.Node{s.Root})
	for _, token := range pointer {
		var next []*schema.Node
		for _, n := range now {
			for _, p := range n.Properties {
				if p.Name == token {
					next = append(next, p.Node)
				}
			}
			if token == "*" && n.Items != nil && len(n.PrefixItems) == 0 {
				next = append(next, n.Items)
			}
		}
		now = applying(next)
	}
	return now
}

// applying adds the nodes that always apply with others.
func applying(nodes []*schema.Node) []*schema.Node {
	var all []*schema.Node
	var add func(n *schema.Node)
	add = func(n *schema.Node) {
		if n == nil || slices.Contains(all, n) {
			return
		}
		all = append(all, n)
		add(n.Ref)
		for _, one := range n.AllOf {
			add(one)
		}
	}
	for _, n := range nodes {
		add(n)
	}
	return all
}

// leafForm is how a text of a variable is written in arguments.
type leafForm uint8

const (
	asText leafForm = iota
	asPath
	asVector // of the words of the command
)

// form is the way in which the values of a condition are written.
func (k *Condition) form() leafForm {
	text := slices.ContainsFunc(k.Reach.Locations, func(p *schema.Location) bool { return p.Types()&schema.String != 0 })
	switch {
	case len(k.Readings) == 1 && k.Readings[0] == schema.Path:
		return asPath
	case !text && slices.ContainsFunc(k.Reach.Locations, (*schema.Location).Vector):
		return asVector
	}
	return asText
}

// vectorText is the command line of an argument vector.
func vectorText(v jsonstream.Value) (string, bool) {
	var vector condition.Vector
	vector.Read(v)
	return string(commandline.AppendWords(nil, vector.Words)), vector.Complete && len(vector.Words) > 0
}

// appendLeaf writes a leaf as JSON.
func appendLeaf(dst []byte, v analysis.Value, form leafForm) []byte {
	switch v.Kind {
	case analysis.Text:
		switch form {
		case asPath:
			return jsonstream.AppendQuote(dst, pathname.PathText(v.Text))
		case asVector:
			words, _ := commandline.Words(v.Text)
			return appendWords(dst, words)
		}
		return jsonstream.AppendQuote(dst, v.Text)
	case analysis.Number:
		return v.Number.AppendCanonical(dst)
	case analysis.Boolean:
		if v.True {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	}
	return append(dst, v.Text...)
}

// appendWords writes a list of strings as JSON.
func appendWords(dst []byte, words []string) []byte {
	dst = append(dst, '[')
	for i, word := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonstream.AppendQuote(dst, word)
	}
	return append(dst, ']')
}
