package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/schema"
)

// known is an approved call that the policy still asks about, and that rules can permit.
type known struct {
	*evidence
	call stopgate.Call
	// server is the name of the call's server in lists of known tools, "" if it is its own.
	server stopgate.ServerID
	units  []unit
}

// unit is the part of a call that one rule permits: the call, or one simple command of its line.
type unit struct {
	of     *known
	leaves []leaf
	args   []byte
	// words are those of the simple command, nil for other calls.
	words []string
	question
}

// question is the question of a rule.
type question struct {
	// at is the index of the rule that asks, in the list of the file, or amend.End.
	at int
	// wanted reports that somebody wanted the question, see [ofItsOwn].
	wanted bool
	// general reports that a rule of a pack asks, which was written for everybody.
	general bool
}

// shape names the parameters of a unit. Calls with other parameters are other calls.
func (u *unit) shape() string {
	var b strings.Builder
	fmt.Fprint(&b, u.question) // questions of other rules stay apart
	for _, l := range u.leaves {
		switch {
		case u.words == nil || l.kind == schema.Command:
			b.WriteString(l.arg + "\x00" + l.kind.String() + "\x00")
		case !l.remark():
			b.WriteString(l.arg + "\x00" + l.key() + "\x00")
		}
	}
	if len(u.words) > 0 {
		b.WriteString(u.words[0])
	}
	return b.String()
}

// remarks are parameters that describe a command to people.
var remarks = strings.Fields("description explanation reason summary title")

// remark reports whether a parameter next to a command describes it, or is a number, such as a timeout.
func (l *leaf) remark() bool {
	name := l.arg[strings.LastIndexByte(l.arg, '/')+1:]
	return l.kind == schema.None && (slices.Contains(remarks, name) || numbers(l.values))
}

// leaf returns the values of a unit at a pointer.
func (u *unit) leaf(arg string) *leaf {
	if i := slices.IndexFunc(u.leaves, func(l leaf) bool { return l.arg == arg }); i >= 0 {
		return &u.leaves[i]
	}
	return nil
}

// group cuts units into groups with equal keys, in the order of their first ones.
func group(units []unit, key func(*unit) string) (groups [][]unit) {
	at := map[string]int{}
	for i := range units {
		k := key(&units[i])
		n, ok := at[k]
		if !ok {
			n = len(groups)
			at[k], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], units[i])
	}
	return groups
}

// valuesOf returns the different values of units at a pointer, in the order in which they came.
func valuesOf(units []unit, arg string) (list []value) {
	for i := range units {
		if l := units[i].leaf(arg); l != nil {
			for _, v := range l.values {
				if !slices.Contains(list, v) {
					list = append(list, v)
				}
			}
		}
	}
	return list
}

// key names the values of a unit at a pointer.
func (l *leaf) key() string {
	var texts []string
	for _, v := range l.values {
		if !slices.Contains(texts, v.json) {
			texts = append(texts, v.json)
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, "\x00")
}
