package match

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/automaton"
)

// compilePath compiles a matcher on a path.
func compilePath(s Spec, expands, restrictive bool, env Env) (textTest, *SpecError) {
	p := newPlace(env, expands, restrictive)
	if s.Kind == Pattern {
		test, err := compilePatterns(s)
		return &pathPattern{place: p, test: test}, err
	}
	if s.Kind == Const || s.Kind == Enum || s.Kind == Prefix {
		return compileLiterals(s, p)
	}
	b := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: restrictive, folded: restrictive, suspects: restrictive}
	var negating []string
	for i, lit := range s.Values {
		b.negates = false
		if err := b.add(s.Kind, lit.Text); err != nil {
			err.Index = i
			return nil, err
		}
		if b.negates {
			negating = append(negating, lit.Text)
		}
	}
	test := newPathTest(p, made(b.NFA))
	if !restrictive || negating == nil {
		return test, nil
	}
	// "[!a]" is also satisfied by "A", which no folded text shows.
	exact := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: true, suspects: true}
	for _, text := range negating {
		_ = exact.add(s.Kind, text)
	}
	p.folded = false
	return eitherPath{test, newPathTest(p, made(exact.NFA))}, nil
}

// compileLiterals checks literals, of which nothing is built before it is needed: most
// are looked up by an index.
func compileLiterals(s Spec, p place) (textTest, *SpecError) {
	for i, lit := range s.Values {
		if err := checkPathLiteral(s.Kind, lit.Text, p.restrictive); err != nil {
			err.Index = i
			return nil, err
		}
	}
	return newPathTest(p, func() *automaton.NFA {
		b := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: p.restrictive, folded: p.restrictive, suspects: p.restrictive}
		for _, lit := range s.Values {
			_ = b.add(s.Kind, lit.Text) // has been checked
		}
		return b.NFA
	}), nil
}

// eitherPath holds if one of two tests does.
type eitherPath [2]*pathTest

func (t eitherPath) match(value []byte) bool { return t[0].match(value) || t[1].match(value) }

func (t eitherPath) judge(v *Value) bool { return t[0].judge(v) || t[1].judge(v) }

// checkForm refuses a literal that is not in Unicode's normal form C.
func checkForm(text string) *SpecError {
	if !norm.NFC.IsNormalString(text) {
		return whole(0, "is not in Unicode's normal form C", "`"+norm.NFC.String(text)+"`")
	}
	return nil
}

// checkPathLiteral refuses a literal of const, enum or prefix.
func checkPathLiteral(k Kind, text string, restrictive bool) *SpecError {
	if err := checkForm(text); err != nil {
		return err
	}
	return checkPath(k, text, restrictive)
}

// checkPath refuses a literal that is not in canonical form (C17, K20): nobody
// could tell what it was meant to be.
func checkPath(k Kind, text string, restrictive bool) *SpecError {
	path := text
	if k == Prefix && len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	canonical, info := appendCanonical(nil, []byte(path))
	body := strings.TrimPrefix(path, "~/")
	switch {
	case len(canonical) == 0:
		return whole(0, "names the root itself", "`glob = \"**\"` is everything below the root")
	case strings.Contains(path, `\`):
		return whole(0, "has a backslash", "`"+strings.ReplaceAll(text, `\`, "/")+"`")
	case strings.ContainsFunc(path, invisible):
		return whole(0, "has a control or invisible character", "")
	case string(canonical) != path:
		err := whole(0, "is not written canonically", "`"+string(canonical)+"`")
		err.Offset = commonPrefix(string(canonical), path)
		return err
	case restrictive:
		return nil
	case info.climbs:
		return whole(0, "leaves the root, so the condition never matches", "write an absolute path")
	case !isPlain([]byte(body)):
		return whole(0, "is a spelling that is never certain, so the condition never matches", "")
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
