package pathname

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Compile compiles a matcher on a path.
func Compile(s condition.Spec, expands, restrictive bool, env condition.Env) (condition.TextTest, *condition.SpecError) {
	if s.Kind == condition.Outside {
		return compileOutside(s, expands, restrictive, env)
	}
	p := pathform.NewContext(env, expands, restrictive)
	if s.Kind == condition.Pattern {
		test, err := plaintext.CompilePatterns(s)
		return &Pattern{Context: p, Test: test}, err
	}
	read, negating, err := readPaths(s, restrictive)
	if err != nil {
		return nil, err
	}
	b := Builder{Env: p.Env, Restrictive: restrictive, Folded: restrictive, Suspects: restrictive}
	test := &Test{Context: p, PathStates: NewPathStates(b, read)}
	if negating == nil {
		return test, nil
	}
	// "[!a]" also matches "A", which the folded text does not show.
	b.Folded, p.Folded = false, false
	exact := NewPathStates(b, func() []Literal { return negating })
	return Either{test, &Test{Context: p, PathStates: exact}}, nil
}

// readPaths checks the values of a condition on paths. read parses them on demand, since an index
// evaluates most literals. negating are the values of a restrictive condition with a negation.
func readPaths(s condition.Spec, restrictive bool) (read func() []Literal, negating []Literal, _ *condition.SpecError) {
	if s.Kind == condition.Const || s.Kind == condition.Enum || s.Kind == condition.Prefix {
		for i, lit := range s.Values {
			if err := CheckPathLiteral(s.Kind, lit.Text, restrictive); err != nil {
				err.Index = i
				return nil, nil, err
			}
		}
		return func() (list []Literal) {
			for _, lit := range s.Values {
				list = append(list, splitPath(s.Kind, lit.Text))
			}
			return list
		}, nil, nil
	}
	if s.Kind == condition.Glob && !slices.ContainsFunc(s.Values, func(lit condition.Literal) bool { return !glob.PlainPath(lit.Text) }) {
		return func() (list []Literal) {
			for _, lit := range s.Values {
				list = append(list, plainGlob(lit.Text, restrictive)...)
			}
			return list
		}, nil, nil
	}
	var list []Literal
	for i, lit := range s.Values {
		one, err := ReadPath(s.Kind, lit.Text, restrictive)
		if err != nil {
			err.Index = i
			return nil, nil, err
		}
		list = append(list, one...)
		if restrictive && slices.ContainsFunc(one, func(l Literal) bool { return l.negates }) {
			negating = append(negating, one...)
		}
	}
	return func() []Literal { return list }, negating, nil
}

// Expanding returns a test of values that a tool expands.
func Expanding(test condition.TextTest) condition.TextTest {
	switch t := test.(type) {
	case *Pattern:
		p := t.Context
		p.Expands = true
		return &Pattern{Context: p, Test: t.Test}
	case Either:
		return Either{t[0].expanding(), t[1].expanding()}
	case *OutsideTest:
		return t.expanding()
	}
	return test.(*Test).expanding()
}

func (t *Test) expanding() *Test {
	p := t.Context
	p.Expands = true
	return &Test{Context: p, PathStates: t.PathStates}
}

// Either holds if one of two tests does.
type Either [2]*Test

func (t Either) Match(value []byte) bool { return t[0].Match(value) || t[1].Match(value) }

func (t Either) Judge(v *condition.Value) bool { return t[0].Judge(v) || t[1].Judge(v) }

// checkForm rejects a literal that is not in Unicode's normal form C.
func checkForm(text string) *condition.SpecError {
	if !norm.NFC.IsNormalString(text) {
		return condition.Invalid(0, "is not in Unicode's normal form C", "`"+norm.NFC.String(text)+"`")
	}
	return nil
}

// CheckPathLiteral rejects an invalid literal of const, enum or prefix.
func CheckPathLiteral(k condition.Kind, text string, restrictive bool) *condition.SpecError {
	if err := checkForm(text); err != nil {
		return err
	}
	return checkPath(k, text, restrictive)
}

// checkPath rejects a literal that is not in canonical form (C17, K20), since its meaning would be
// ambiguous.
func checkPath(k condition.Kind, text string, restrictive bool) *condition.SpecError {
	path := text
	if k == condition.Prefix && len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	canonical, info := pathform.AppendCanonical(nil, []byte(path))
	body := strings.TrimPrefix(path, "~/")
	switch {
	case len(canonical) == 0:
		return condition.Invalid(0, "names the root itself", "`glob = \"**\"` is everything below the root")
	case strings.Contains(path, `\`):
		return condition.Invalid(0, "has a backslash", "`"+strings.ReplaceAll(text, `\`, "/")+"`")
	case strings.ContainsFunc(path, spelling.Invisible):
		return condition.Invalid(0, "has a control or invisible character", "")
	case string(canonical) != path:
		err := condition.Invalid(0, "is not written canonically", "`"+string(canonical)+"`")
		err.Offset = commonPrefix(string(canonical), path)
		return err
	case restrictive:
		return nil
	case info.Climbs:
		return condition.Invalid(0, "leaves the root, so the condition never matches", "write an absolute path")
	case !pathform.IsPlain([]byte(body)):
		return condition.Invalid(0, "is a spelling that is never certain, so the condition never matches", "")
	}
	return nil
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
