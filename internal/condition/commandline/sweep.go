package commandline

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// reaches reports whether the test could match a swept file.
func (t *PathTest) reaches(s *effect.Sweep) bool {
	test, ok := t.path.(pathname.SweptTest)
	if !ok {
		return true
	}
	if _, outside := t.path.(*pathname.OutsideTest); outside && s.Renames {
		return false // its words name the target
	}
	if p, pattern := t.path.(*pathname.Pattern); s.Renames && !s.Anywhere && (!pattern || s.Single) {
		if pattern {
			return p.Loses(string(s.Dir.Text), s.Dir.Literal)
		}
		return t.above().Hold(s.Dir.Text, s.Dir.Literal)
	}
	dir, certain := t.base.from(s.Dir.Text, s.Moved, s.Into, s.Sure)
	if s.Files {
		return !certain || t.spread.Match(dir)
	}
	which := pathname.Swept{Hidden: s.Hidden, Names: s.Names}
	return s.Anywhere || !certain || test.Sweeps(string(dir), s.Dir.Literal, which) ||
		s.Repository && t.base.deeper() && test.Sweeps(t.base.root, true, which)
}

// Sweeping reports whether Sweeps can be true for any value.
func (t *PathTest) Sweeping() bool { return t.Restrictive }

// Sweeps reports whether a guard on paths could match a file that a command line reads without
// naming it, in a directory that it reads completely, or could stop matching one in a directory
// that it renames. The disk is not consulted: it is enough that there may be such a file. Matches
// of wildcards count too, also if complete directories do not.
func (t *PathTest) Sweeps(value *condition.Value) bool {
	v := Of(value)
	if !t.Restrictive || v.exceeds() {
		return false
	}
	return t.sweeps(v, v.Line()) || t.sweeps(v, v.OtherLine())
}

// sweeps is Sweeps for one form of the line, nil for none.
func (t *PathTest) sweeps(v *Value, l *shell.Line) (hit bool) {
	if l == nil {
		return false
	}
	list, ok := v.sweeps(l)
	if !ok {
		effect.Sweeps(l, func(s *effect.Sweep) bool {
			hit = t.swept(v, s)
			return !hit
		})
		return hit
	}
	for k := range list {
		if t.swept(v, &list[k]) {
			return true
		}
	}
	return false
}

// swept reports whether the test could match a file of one sweep.
func (t *PathTest) swept(v *Value, s *effect.Sweep) bool {
	return (t.below || (s.Files || s.Given) && t.use&effect.Reads != 0) && (s.Given && !t.base.plainNames(v, t.links, s) || !s.Counts && t.reaches(s) && !t.clear(v, s))
}
