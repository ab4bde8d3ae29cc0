package gen

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// Circumstances are who calls, with groups that are nil if they are not known, and the session's data
// as JSON: "" if nobody knows them.
type Circumstances struct {
	Agent, Data string
	Groups      []string
}

// When returns the case with conditions on the agent and on the session's data in some
// of its rules and guards, and circumstances to judge it under. What is drawn depends on
// the case alone.
func (c *Case) When() (*Case, Circumstances) {
	h := fnv.New64a()
	for _, f := range c.Files {
		h.Write([]byte(f.Text))
	}
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	var u Circumstances
	n := *c.Naive
	d := *c
	d.Naive, d.Files = &n, slices.Clone(c.Files)
	n.Layers = slices.Clone(n.Layers)
	for i := range n.Layers {
		l := &n.Layers[i]
		rest, done := d.Files[i].Text, ""
		rewrite := func(k *naive.Rule, separator string) {
			was := writeRule(*k, separator)
			before, after, found := strings.Cut(rest, was)
			if !found {
				panic("gen: a rule is not in its file")
			}
			if r.IntN(2) == 0 {
				k.When = when(r)
			}
			done, rest = done+before+writeRule(*k, separator), after
		}
		l.Rules, l.Guards = slices.Clone(l.Rules), slices.Clone(l.Guards)
		for j := range l.Rules {
			rewrite(&l.Rules[j], ", ")
		}
		for j := range l.Guards {
			rewrite(&l.Guards[j], "\n")
		}
		d.Files[i].Text = done + rest
	}
	u.Agent = pick(r, []string{"", "main", "helper"})
	data := pick(r, []struct {
		text string
		node *naive.Node
	}{
		{"", nil},
		{`{}`, &naive.Node{Kind: naive.Object}},
		{`{"v":null}`, member("v", &naive.Node{Kind: naive.Null})},
		{`{"v":"x"}`, member("v", text("x"))},
		{`{"v":"y"}`, member("v", text("y"))},
		{`{"v":7}`, member("v", &naive.Node{Kind: naive.Number, Text: "7"})},
		{`{"w":"x"}`, member("w", text("x"))},
		{`{"v":["x","y"]}`, member("v", &naive.Node{Kind: naive.Array, Elems: []*naive.Node{text("x"), text("y")}})},
		{`{"v":["x"]}`, member("v", &naive.Node{Kind: naive.Array, Elems: []*naive.Node{text("x")}})},
		{`{"v":[]}`, member("v", &naive.Node{Kind: naive.Array})},
		{`{"v":{"x":"x"}}`, member("v", member("x", text("x")))},
	})
	u.Groups = pick(r, [][]string{nil, {}, {"payments"}, {"pay/roll"}, {"people", "payments"}, {"people"}})
	u.Data, n.Agent, n.Groups, n.Data = data.text, u.Agent, u.Groups, data.node
	return &d, u
}

func member(key string, v *naive.Node) *naive.Node {
	return &naive.Node{Kind: naive.Object, Members: []naive.Member{{Key: key, Value: v}}}
}

func when(r *rand.Rand) *naive.When {
	switch r.IntN(7) {
	case 0:
		return &naive.When{Agent: pick(r, []string{"main", "helper", "*", "ma*"})}
	case 1:
		return &naive.When{Values: []string{"x", "z"}}
	case 2:
		return &naive.When{Agent: "main", Values: []string{"x"}}
	case 3, 4:
		return &naive.When{Groups: pick(r, [][]string{{"payments"}, {"pay*"}, {"people", "pay*"}, {"*"}})}
	case 5:
		return &naive.When{Groups: []string{"pay*"}, Values: []string{"x"}}
	}
	return &naive.When{Values: []string{pick(r, []string{"x", "y"})}}
}

// writeWhen writes a rule's conditions on its circumstances.
func writeWhen(w *naive.When) string {
	var parts []string
	if w.Agent != "" {
		parts = append(parts, "agent = "+quote(w.Agent))
	}
	if w.Groups != nil {
		var all []string
		for _, g := range w.Groups {
			all = append(all, quote(g))
		}
		parts = append(parts, "group = ["+strings.Join(all, ", ")+"]")
	}
	if w.Effect != nil {
		parts = append(parts, fmt.Sprint("effect = ", *w.Effect))
	}
	if w.Says != nil {
		parts = append(parts, "says = '"+w.Says.Pattern+"'")
		if w.Says.Anywhere {
			parts = append(parts, "anywhere = true")
		}
	}
	switch len(w.Values) {
	case 0:
	case 1:
		parts = append(parts, `session = "/v", const = `+quote(w.Values[0]))
	default:
		var all []string
		for _, v := range w.Values {
			all = append(all, quote(v))
		}
		parts = append(parts, `session = "/v", enum = [`+strings.Join(all, ", ")+"]")
	}
	return "when = { " + strings.Join(parts, ", ") + " }"
}
