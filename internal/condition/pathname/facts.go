package pathname

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
)

// ExceedsBy reports whether the test holds for a value only because it is long.
func (t *Test) ExceedsBy(value *condition.Value) bool {
	v := pathform.Of(value)
	if !t.Restrictive || !v.LacksReadings(&t.Context) {
		return false
	}
	list, _ := v.Readings(&t.Context)
	return !t.suspects(list, condition.Known)
}

func (t Either) ExceedsBy(v *condition.Value) bool { return t[0].ExceedsBy(v) || t[1].ExceedsBy(v) }

func (t *OutsideTest) ExceedsBy(value *condition.Value) bool {
	v := pathform.Of(value)
	return v.LacksReadings(&t.Context) && !t.leads(v)
}

func (t *Pattern) ExceedsBy(value *condition.Value) bool {
	v := pathform.Of(value)
	return t.Restrictive && v.LacksReadings(&t.Context) && !t.Test.Holds(v.Text()) && !t.readsAny(v.Listed())
}

func (t *Test) MayBeUnknown() bool { return t.Restrictive }

func (t Either) MayBeUnknown() bool { return true }

func (t *Pattern) MayBeUnknown() bool { return t.Restrictive }

func (t *OutsideTest) MayBeUnknown() bool { return true }

func (t *Test) Unknown(v *condition.Value) condition.Unknown {
	return t.Context.Missing(pathform.Of(v))
}

func (t Either) Unknown(v *condition.Value) condition.Unknown { return t[0].Unknown(v) }

func (t *Pattern) Unknown(value *condition.Value) condition.Unknown {
	v := pathform.Of(value)
	if !v.Valid() {
		return condition.UnknownReading
	}
	if _, certain := v.Certain(&t.Context); certain || !t.Restrictive {
		return condition.Known
	}
	list, unknown := v.Readings(&t.Context)
	if slices.ContainsFunc(list, func(r pathform.Reading) bool { return r.Glob }) { // patterns cannot be evaluated on it
		unknown |= condition.UnknownReading
	}
	return unknown &^ condition.TooLong
}

func (t *OutsideTest) Unknown(v *condition.Value) condition.Unknown {
	return t.Context.Missing(pathform.Of(v))
}

func (t *Test) ReadsAs(other condition.TextTest) bool {
	o, ok := other.(*Test)
	return ok && o.ReadsLike(&t.Context)
}

func (t Either) ReadsAs(other condition.TextTest) bool {
	o, ok := other.(Either)
	return ok && o[0].ReadsLike(&t[0].Context)
}

func (t *Pattern) ReadsAs(other condition.TextTest) bool {
	o, ok := other.(*Pattern)
	return ok && o.ReadsLike(&t.Context)
}

func (t *OutsideTest) ReadsAs(condition.TextTest) bool { return false }

var (
	_ condition.UnknownTest = (*Test)(nil)
	_ condition.UnknownTest = Either{}
	_ condition.UnknownTest = (*Pattern)(nil)
	_ condition.UnknownTest = (*OutsideTest)(nil)
)

// HoldsAny reports whether the test matches a file of a list, or its target. hidden are included, stored
// leaves out those of git, and names are wildcards for their names.
func (t *Test) HoldsAny(dir string, found *pathform.Listing, hidden, stored bool, names []string, way *pathform.LinkCache) bool {
	for i, below := range found.Names {
		dotted := strings.HasPrefix(below, ".") || strings.Contains(below, "/.")
		inStore := strings.HasPrefix(below, ".git/") || strings.Contains(below, "/.git/")
		if found.Modes[i].IsDir() || dotted && !hidden || inStore && stored || !Searched(below, names) {
			continue
		}
		name := strings.TrimSuffix(dir, "/") + "/" + below
		if t.Holds([]byte(name), true) {
			return true
		}
		if found.Modes[i]&fs.ModeSymlink == 0 {
			continue
		}
		real, ok := way.Follow(t.Env.Links, name)
		if !ok || t.Holds([]byte(real), true) {
			return true
		}
	}
	return false
}

// Searched reports whether a file matches one of some wildcards; none means all.
func Searched(name string, wildcards []string) bool {
	for _, w := range wildcards {
		if ok, err := path.Match(strings.ToLower(w), strings.ToLower(path.Base(name))); ok || err != nil {
			return true
		}
	}
	return len(wildcards) == 0
}
