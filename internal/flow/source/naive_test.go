package source_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/flow/source"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
)

// tree is a value of a random document.
type tree struct {
	kind rune // o, a, s, n, or b for a boolean
	text string
	keys []string
	subs []*tree
}

// place is a node with the path to it. Elements have their index.
type place struct {
	*tree
	path []step
}

type step struct {
	name    string
	element bool
}

// write writes a document in a format.
func (d *tree) write(format string) string {
	open, shut := map[rune]string{'o': "{", 'a': "["}[d.kind], map[rune]string{'o': "}", 'a': "]"}[d.kind]
	quoted := func(s string) string {
		if format == "python" {
			return "'" + s + "'"
		}
		return strconv.Quote(s)
	}
	switch d.kind {
	case 's':
		return quoted(d.text)
	case 'n':
		return d.text
	case 'b':
		return map[string]string{"json": "true", "yaml": "true", "python": "True"}[format]
	}
	var parts []string
	for i, sub := range d.subs {
		part := sub.write(format)
		if d.kind == 'o' {
			part = quoted(d.keys[i]) + ": " + part
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, ", ") + shut
}

// places lists all nodes.
func (d *tree) places(path []step) (all []place) {
	all = []place{{d, path}}
	for i, sub := range d.subs {
		s := step{strconv.Itoa(i), true}
		if d.kind == 'o' {
			s = step{d.keys[i], false}
		}
		all = append(all, sub.places(append(slices.Clone(path), s))...)
	}
	return all
}

// fits reports whether a path is one that a pointer names.
func fits(path []step, p jsonstream.Pointer) bool {
	if len(path) != len(p) {
		return false
	}
	for i, token := range p {
		if token != "*" && token != path[i].name {
			return false
		}
	}
	return true
}

// named lists the nodes below a node that a pointer names, and whether no path ends before.
func named(d *tree, p jsonstream.Pointer) (found []*tree, complete bool) {
	for _, at := range d.places(nil) {
		if fits(at.path, p) {
			found = append(found, at.tree)
		}
	}
	complete = true
	for n := range p {
		for _, at := range d.places(nil) {
			if fits(at.path, p[:n]) {
				next := slices.ContainsFunc(at.places(nil), func(q place) bool { return fits(q.path, p[n:n+1]) })
				container := at.kind == 'o' || at.kind == 'a'
				complete = complete && (next || container && p[n] == "*" && len(at.subs) == 0)
			}
		}
	}
	return found, complete
}

// holdsNaively evaluates a condition on an item, with the values that the user wrote.
func holdsNaively(c syntax.SourceCondition, item *tree, user []string) bool {
	found, complete := named(item, c.Pointer)
	if !complete || len(found) == 0 {
		return false
	}
	for _, at := range found {
		if c.Const != nil {
			if (at.kind == 's') != (c.Const.Kind == condition.LiteralString) || at.kind != 's' && at.kind != 'n' || at.text != c.Const.Text {
				return false
			}
			continue
		}
		leaves := 0
		for _, leaf := range at.places(nil) {
			switch leaf.kind {
			case 's', 'n':
				leaves++
				if !slices.Contains(user, leaf.text) {
					return false
				}
			case 'b':
				return false
			}
		}
		if leaves == 0 {
			return false
		}
	}
	return true
}

// coveredNaively lists the texts that a definition covers.
func coveredNaively(d *tree, t *syntax.SourceTable, user []string) (texts []string) {
	for _, item := range d.places(nil) {
		if !fits(item.path, t.Items) || slices.ContainsFunc(t.Where, func(c syntax.SourceCondition) bool { return !holdsNaively(c, item.tree, user) }) {
			continue
		}
		for _, at := range item.places(nil) {
			if t.Keys && at.kind == 'o' && fits(at.path, t.Field[:len(t.Field)-1]) {
				texts = append(texts, at.keys...)
			}
			if t.Keys || at.kind != 's' && at.kind != 'n' {
				continue
			}
			for n := range len(at.path) + 1 {
				if fits(at.path[:n], t.Field) {
					texts = append(texts, at.text)
				}
			}
		}
	}
	return texts
}

// Classification agrees with a twin that lists all paths of a document and compares each with each
// definition.
func TestAgreesWithNaiveTwin(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "key", "0"})
	words := rapid.SampledFrom([]string{"alpha", "bravo", "charlie", "delta"})
	numbers := rapid.SampledFrom([]string{"1000", "2345.5"})
	var document func(t *rapid.T, depth int) *tree
	document = func(t *rapid.T, depth int) *tree {
		switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case k < 4 && depth < 4:
			d := &tree{kind: 'o'}
			d.keys = rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "keys")
			for range d.keys {
				d.subs = append(d.subs, document(t, depth+1))
			}
			return d
		case k < 6 && depth < 4:
			d := &tree{kind: 'a'}
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				d.subs = append(d.subs, document(t, depth+1))
			}
			return d
		case k == 6:
			return &tree{kind: 'b'}
		case k == 7:
			return &tree{kind: 'n', text: numbers.Draw(t, "number")}
		}
		return &tree{kind: 's', text: words.Draw(t, "word")}
	}
	pointer := func(t *rapid.T, label string, most int) jsonstream.Pointer {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"*", "*", "a", "b", "key", "0", "1"}), 0, most).Draw(t, label)
	}
	property.Many(t, 50, func(t *rapid.T) {
		user := rapid.SliceOfNDistinct(rapid.OneOf(words, numbers), 0, 3, rapid.ID).Draw(t, "user")
		format := rapid.SampledFrom([]string{"json", "yaml", "python"}).Draw(t, "format")
		d := document(t, 0)
		if d.kind != 'o' {
			d = &tree{kind: 'a', subs: []*tree{d}}
		}
		var tables []*syntax.SourceTable
		for i := range rapid.IntRange(1, 3).Draw(t, "definitions") {
			table := &syntax.SourceTable{Name: flow.Source(fmt.Sprint("s", i)), Tools: []string{"get"}, Items: pointer(t, "items", 2), Field: pointer(t, "field", 3)}
			if format != "json" || rapid.Bool().Draw(t, "written") {
				table.Format = format
			}
			table.Keys = len(table.Field) > 0 && table.Field[len(table.Field)-1] == "*" && rapid.Bool().Draw(t, "keys")
			for range rapid.IntRange(0, 2).Draw(t, "conditions") {
				c := syntax.SourceCondition{Pointer: pointer(t, "where", 2)}
				switch rapid.IntRange(0, 2).Draw(t, "condition") {
				case 0:
					c.From = []flow.Source{flow.User}
				case 1:
					w := words.Draw(t, "constant")
					c.Const = &condition.Literal{Kind: condition.LiteralString, Text: w, JSON: strconv.Quote(w)}
				default:
					n := numbers.Draw(t, "constant")
					c.Const = &condition.Literal{Kind: condition.LiteralNumber, Text: n, JSON: n}
				}
				table.Where = append(table.Where, c)
			}
			tables = append(tables, table)
		}
		s := &session{Reader: source.New(source.Config{Files: []source.File{{Sources: tables}}, Tool: facts}), index: &plainIndex{keys: map[string]bool{}}}
		s.user("my words: " + strings.Join(user, ", "))
		text := d.write(format)
		s.result("get", `{}`, text)
		for _, table := range tables {
			got, want := s.index.of(table.Name), coveredNaively(d, table, user)
			slices.Sort(got)
			slices.Sort(want)
			got, want = slices.Compact(got), slices.Compact(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v on %s: %q, want %q", *table, text, got, want)
			}
		}
	})
}
