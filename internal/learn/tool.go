package learn

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// toolCalls are all calls of the rows to one tool.
type toolCalls struct {
	name  stopgate.ToolName
	calls []*known
	// args are the parameters that some call of the tool had, but for those that only had texts without an
	// address, or truth values.
	args []string
	// stated are the parameters that a table of the tool declares; own reports that there is one.
	stated []string
	own    bool
	// definitions are the schemas that calls came with, schemas their roots.
	definitions []string
	schemas     []*schema.Node
}

// expressible leaves out conditions that the tool's own table cannot have: the absence of parameters that it
// does not declare. It is not ok if another one is left.
func (t *toolCalls) expressible(terms []term) (kept []term, ok bool) {
	for _, each := range terms {
		if !t.own || each.condition == "" || t.states(each.arg) {
			kept = append(kept, each)
		} else if each.condition != "present = false" {
			return nil, false
		}
	}
	return kept, true
}

// states reports whether the tool's own table declares a parameter.
func (t *toolCalls) states(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "/"), "/")
	return slices.Contains(t.stated, name)
}

// listed reports that the table of known tools has the tool.
func (t *toolCalls) listed() bool { return len(knowntools.ByName(string(t.name))) > 0 }

// varying returns the parameters that the rows of known tools let vary, for the servers of all calls.
func (t *toolCalls) varying() (names []string) {
	for i, k := range t.calls {
		row := knowntools.Varying(string(t.name), string(k.call.Server), string(k.server))
		if i == 0 {
			names = slices.Clone(row)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(row, name) })
	}
	return names
}

func truths(values []value) bool {
	return !slices.ContainsFunc(values, func(v value) bool { return v.is != jsonstream.True && v.is != jsonstream.False })
}

// note adds the parameters of a call.
func (t *toolCalls) note(leaves []leaf) {
	for i := range leaves {
		l := &leaves[i]
		if !truths(l.values) && !l.content() && !slices.Contains(t.args, l.arg) {
			t.args = append(t.args, l.arg)
		}
	}
}

// units are the parts of all approved calls.
func (t *toolCalls) units() (list []unit) {
	for _, k := range t.calls {
		list = append(list, k.units...)
	}
	return list
}
