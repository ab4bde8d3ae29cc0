package learn

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/schema"
)

// Kin are approved calls of a known tool that do the same as others, and say so with other parameters:
//
//	without a parameter that the tool's row lets vary:  check {} and check { package = "core" }
//	with their files in another parameter:              edit { path = "lib/a" } and edit { files = ["lib/b"] }
//
// They count for a generalisation of one parameter, and no rule permits them by it: a rule permits calls with the
// parameters of the calls that it was drafted for.

// varyingKin returns the approved calls that differ from units in nothing but parameters that may vary.
func (f *family) varyingKin(units []unit) []unit {
	return f.kin(units, func(l *leaf) bool { return f.varies(l.arg, l.kind) }, func(*unit) bool { return true })
}

// fileKin returns the approved calls that differ from units in nothing but their files and parameters that may
// vary, and name their files in one parameter, as these do. A call with two may read one and write the other.
func (f *family) fileKin(units []unit) []unit {
	one := func(u *unit) bool { return len(u.files()) == 1 }
	if !f.tool.listed() || !one(&units[0]) {
		return units
	}
	return f.kin(units, func(l *leaf) bool { return l.kind == schema.Path || f.varies(l.arg, l.kind) }, one)
}

// kin returns the approved calls that have the leaves of one of the units, but for those that may differ.
func (f *family) kin(units []unit, differ func(*leaf) bool, like func(*unit) bool) (list []unit) {
	if units[0].words != nil {
		return units
	}
	same := func(u *unit) string {
		var b strings.Builder
		for i := range u.leaves {
			if l := &u.leaves[i]; !differ(l) {
				b.WriteString(l.arg + "\x00" + l.key() + "\x00\x00")
			}
		}
		return b.String()
	}
	keys := map[string]bool{}
	for i := range units {
		keys[same(&units[i])] = true
	}
	for i := range f.pool {
		if u := &f.pool[i]; u.words == nil && !u.wanted && like(u) && keys[same(u)] {
			list = append(list, *u)
		}
	}
	return list
}

// different is how many values units have at a pointer; its absence is one.
func different(units []unit, arg string) int {
	keys := map[string]bool{}
	for i := range units {
		if l := units[i].leaf(arg); l != nil {
			keys[l.key()] = true
		} else {
			keys[""] = true
		}
	}
	return len(keys)
}

// files are the leaves of a unit that name files.
func (u *unit) files() []leaf {
	return slices.DeleteFunc(slices.Clone(u.leaves), func(l leaf) bool { return l.kind != schema.Path })
}

// with returns the condition with the approvals that it rests on, and names the parameters in which they differ from
// units. Without further ones it returns the condition as it is.
func (t term) with(units, by []unit) term {
	if len(by) <= len(units) {
		return t
	}
	var differing []string
	for _, arg := range argsOf(by) {
		without := slices.ContainsFunc(by, func(u unit) bool { return u.leaf(arg) == nil })
		if arg == t.arg && without || arg != t.arg && different(by, arg) > different(units, arg) {
			differing = append(differing, arg)
		}
	}
	if len(differing) > 0 {
		slices.Sort(differing)
		t.sentence += " (calls that differ in " + strings.Join(differing, " and ") + " count)"
	}
	t.by = by
	return t
}

// restsOn returns the fewest approvals with kin that one of the conditions on units rests on. It returns nil if there
// are none, or if a parameter that may vary has a condition that needs the approvals of the units themselves: in all
// other parameters kin agree. The absence of such a parameter is a value of it, and rests on its other values.
func (f *family) restsOn(units []unit, terms []term) (by []unit) {
	if f.width <= exact {
		return nil
	}
	kin := f.varyingKin(units)
	for i := range terms {
		t := &terms[i]
		varies := slices.ContainsFunc(kin, func(u unit) bool {
			l := u.leaf(t.arg)
			return l != nil && f.varies(l.arg, l.kind)
		})
		switch {
		case !varies || t.by != nil:
		case t.condition != "present = false":
			return nil
		case supportOf(kin).looking(different(kin, t.arg)):
			t.sentence = "no " + t.arg
			*t = t.with(units, kin)
		}
		if t.by != nil && (by == nil || len(t.by) < len(by)) {
			by = t.by
		}
	}
	return by
}
