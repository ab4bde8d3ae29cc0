package symbolic

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Document writes the arguments of a witness: its choices at the pointers of the
// variables, and the other parameters that the schema requires. It reports
// false if no arguments that fit the schema were found.
func (t *Translation) Document(choices []analysis.Choice) ([]byte, bool) {
	choices = t.suppose(choices)
	root := &draft{kind: jsonstream.Object}
	longest := t.longest(choices)
	for i, pointer := range t.pointers {
		if pointer == nil || i >= len(choices) {
			continue // a fact of the call
		}
		if !t.place(root, i, &choices[i], longest) {
			return nil, false
		}
	}
	root.require(t.Schema.Location(), rootNodes(t.Schema), 0)
	text := root.append(nil)
	value, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true})
	if err != nil || t.Schema.Validate(value) != nil {
		return nil, false
	}
	return text, true
}

func rootNodes(s *schema.Schema) []*schema.Node {
	if s == nil || s.Root == nil {
		return nil
	}
	return applying([]*schema.Node{s.Root})
}

// outer is the array that a pointer crosses first, "" if it crosses none.
func outer(pointer jsonstream.Pointer) string {
	if at := slices.Index(pointer, "*"); at >= 0 {
		return pointer[:at].String()
	}
	return ""
}

// longest finds how many elements each array needs: several variables may look into
// one.
func (t *Translation) longest(choices []analysis.Choice) map[string]int {
	lengths := make(map[string]int)
	for i, c := range choices {
		if n := len(c.Leaves); t.pointers[i] != nil && t.all[i].Several {
			if c.Hole {
				n++
			}
			lengths[outer(t.pointers[i])] = max(lengths[outer(t.pointers[i])], n)
		}
	}
	return lengths
}

// place puts a choice into a document.
func (t *Translation) place(root *draft, i int, c *analysis.Choice, longest map[string]int) bool {
	pointer := t.pointers[i]
	switch {
	case c.Absent:
		return true
	case c.Null && t.forms[i] == asVector:
		return root.set(pointer, nil, &draft{kind: jsonstream.Array})
	case c.Null:
		return root.set(pointer, nil, &draft{kind: jsonstream.Null})
	}
	leaf := func(v analysis.Value) *draft {
		return &draft{kind: jsonstream.String, raw: appendLeaf(nil, v, t.forms[i])}
	}
	stars := 0
	for _, token := range pointer {
		if token == "*" {
			stars++
		}
	}
	switch {
	case stars == 0 && len(c.Leaves) == 1 && !c.Hole:
		return root.set(pointer, nil, leaf(c.Leaves[0]))
	case stars == 0 && !c.Hole: // the schema is not known: an array of its own
		list := &draft{kind: jsonstream.Array}
		for _, v := range c.Leaves {
			list.elements = append(list.elements, leaf(v))
		}
		return root.set(pointer, nil, list)
	case stars == 0:
		return false
	case len(c.Leaves) == 0 && !c.Hole:
		return root.set(pointer[:slices.Index(pointer, "*")], nil, &draft{kind: jsonstream.Array})
	}
	n := longest[outer(pointer)]
	for e := range n {
		at := append([]int{e}, make([]int, stars-1)...)
		switch {
		case e < len(c.Leaves):
			if !root.set(pointer, at, leaf(c.Leaves[e])) {
				return false
			}
		case c.Hole:
			if !t.hole(root, pointer, at) {
				return false
			}
		case len(c.Leaves) > 0:
			if !root.set(pointer, at, leaf(c.Leaves[len(c.Leaves)-1])) {
				return false
			}
		}
	}
	return true
}

// hole puts a branch without a leaf into an array.
func (t *Translation) hole(root *draft, pointer jsonstream.Pointer, at []int) bool {
	first := slices.Index(pointer, "*")
	rest := pointer[first+1:]
	if len(rest) == 0 {
		return root.set(pointer, at, &draft{kind: jsonstream.Null})
	}
	if next := slices.Index(rest, "*"); next >= 0 {
		return root.set(pointer[:first+1+next], at[:1], &draft{kind: jsonstream.Array})
	}
	return root.set(pointer[:first+1], at[:1], &draft{kind: jsonstream.Object})
}

// Facts sets the facts of a call to those of a witness.
func (t *Translation) Facts(call *stopgate.Call, choices []analysis.Choice) {
	leaves := func(name string) (texts []string, ok bool) {
		n, ok := t.variables[name]
		if ok && n < len(choices) {
			for _, v := range choices[n].Leaves {
				texts = append(texts, v.Text)
			}
		}
		return texts, ok
	}
	of := func(name string) string {
		if texts, _ := leaves(name); len(texts) > 0 {
			return texts[0]
		}
		return ""
	}
	call.Agent, call.Surface = stopgate.AgentName(of("when.agent")), stopgate.Surface(of("when.surface"))
	call.Server, call.Principal = stopgate.ServerID(of("when.server")), stopgate.Principal(of("when.principal"))
	if names, ok := leaves(groupsFact); ok {
		call.Groups, _ = stopgate.GroupsOf(names...) // the domain admits no other names
	}
}

// Situation returns the facts of a witness about the session's data.
func (t *Translation) Situation(choices []analysis.Choice) (s eval.Situation) {
	for n, name := range t.names {
		polarity, key, _ := strings.Cut(strings.TrimPrefix(name, "when.session "), " ")
		if key == "" || t.pointers[n] != nil || n >= len(choices) {
			continue
		}
		met := len(choices[n].Leaves) > 0 && choices[n].Leaves[0].Text == metFact
		s = s.With(key, polarity == "permits", met)
	}
	return s
}

// Unprotected returns a function that accepts values that touch no protected target, of which a floor
// would hide the verdict of the rules (K2). It belongs to one goroutine.
func Unprotected(list condition.Protected) func(schema.Annotation, analysis.Value) bool {
	var scratch condition.Value
	return func(a schema.Annotation, v analysis.Value) bool {
		if v.Kind != analysis.Text {
			return true
		}
		text := v.Text
		switch a {
		case schema.Path:
			text = pathname.PathText(text)
		case schema.Command, schema.Argv:
			a = schema.Command
		case schema.Patch:
			_, ok := patch.Files(text)
			return ok // the others are asked about, whatever the rules decide
		default:
			return true
		}
		scratch.Reset([]byte(text))
		p, _ := list.Judge(&scratch, a)
		return p == condition.Unprotected
	}
}
