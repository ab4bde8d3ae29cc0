package match

import (
	"slices"
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
	for i, lit := range s.Values {
		if err := b.add(s.Kind, lit.Text); err != nil {
			err.Index = i
			return nil, err
		}
	}
	test := newPathTest(b.NFA, p)
	if !restrictive || !b.negates {
		return test, nil
	}
	// "[!a]" is also satisfied by "A", which no folded text shows.
	exact := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: true, suspects: true}
	for _, lit := range s.Values {
		_ = exact.add(s.Kind, lit.Text)
	}
	p.folded = false
	return eitherPath{test, newPathTest(exact.NFA, p)}, nil
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
	return &pathTest{place: p, nfa: func() *automaton.NFA {
		b := pathBuilder{NFA: automaton.New(), env: p.env, restrictive: p.restrictive, folded: p.restrictive, suspects: p.restrictive}
		for _, lit := range s.Values {
			_ = b.add(s.Kind, lit.Text) // has been checked
		}
		return b.NFA
	}}, nil
}

// eitherPath holds if one of two tests does.
type eitherPath [2]*pathTest

func (t eitherPath) match(value []byte) bool { return t[0].match(value) || t[1].match(value) }
func (t eitherPath) judge(v *Value) bool     { return t[0].judge(v) || t[1].judge(v) }

// pathBuilder builds the set of canonical paths that the literals of a condition
// name; of folded ones if the condition is restrictive.
type pathBuilder struct {
	*automaton.NFA
	env         Env  // normal
	restrictive bool // globs also name what is below what they match
	folded      bool
	suspects    bool        // literals also stand where they may be meant
	negates     bool        // a class says what it leaves out
	top         int         // the state of absolute, 0 before it is needed
	behind      map[int]int // see names
}

// pathLiteral is one literal or one alternative of a glob, in components.
type pathLiteral struct {
	absolute   bool
	home       bool // starts with "~/"
	components [][]globToken
	below      bool // also stands for everything below it
}

func (b *pathBuilder) add(k Kind, text string) *SpecError {
	switch k {
	case Suffix, Glob:
		if err := checkForm(text); err != nil {
			return err
		}
	}
	switch k {
	case Suffix:
		return b.addSuffix(text)
	case Glob:
		lists, err := parseGlob(text, true)
		if err != nil {
			return err
		}
		for _, tokens := range lists {
			b.negates = b.negates || slices.ContainsFunc(tokens, func(t globToken) bool { return t.negated })
			lit, err := splitGlob(text, tokens)
			if err != nil {
				return err
			}
			if err := b.checkGlob(lit); err != nil {
				return err
			}
			lit.below = b.restrictive
			b.addLiteral(lit)
		}
		return nil
	}
	if err := checkPathLiteral(k, text, b.restrictive); err != nil {
		return err
	}
	lit := splitLiteral(text)
	lit.below = k == Prefix
	b.addLiteral(lit)
	return nil
}

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

func splitLiteral(text string) pathLiteral {
	var lit pathLiteral
	text, lit.absolute = strings.CutPrefix(text, "/")
	text = strings.TrimSuffix(text, "/")
	if rest, ok := strings.CutPrefix(text+"/", "~/"); ok && !lit.absolute {
		lit.home, text = true, strings.TrimSuffix(rest, "/")
	}
	if text == "" {
		return lit
	}
	for _, c := range strings.Split(text, "/") {
		var tokens []globToken
		for _, r := range c {
			tokens = append(tokens, globToken{r: r})
		}
		lit.components = append(lit.components, tokens)
	}
	return lit
}

// splitGlob cuts the tokens of one alternative into components.
func splitGlob(text string, tokens []globToken) (pathLiteral, *SpecError) {
	var lit pathLiteral
	var component []globToken
	end := len(text)
	flush := func(at int) *SpecError {
		err := checkComponent(component, at)
		lit.components = append(lit.components, component)
		component = nil
		return err
	}
	for i, t := range tokens {
		if t.kind != globLiteral || t.r != '/' {
			component = append(component, t)
			continue
		}
		if i == 0 {
			lit.absolute = true
			continue
		}
		if err := flush(t.at); err != nil {
			return lit, err
		}
	}
	if lit.absolute && len(tokens) == 1 {
		return lit, nil
	}
	if len(component) == 0 && len(tokens) > 0 {
		return lit, &SpecError{Offset: end - 1, Message: "ends with a separator", Hint: "`" + text + "**` is everything below"}
	}
	if err := flush(end); err != nil {
		return lit, err
	}
	if !lit.absolute && len(lit.components) > 1 {
		if isText(lit.components[0], "~") {
			lit.home, lit.components = true, lit.components[1:]
		}
	}
	return lit, nil
}

// checkComponent refuses what no canonical path can match.
func checkComponent(tokens []globToken, at int) *SpecError {
	if len(tokens) == 0 {
		return &SpecError{Offset: at, Message: "has an empty component", Hint: "write one separator"}
	}
	if isText(tokens, ".") {
		return &SpecError{Offset: tokens[0].at, Message: `has "." as a component, which cleaning removes`, Hint: "leave it out"}
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i].kind == globStar && tokens[i-1].kind == globStar && len(tokens) != 2 {
			return &SpecError{Offset: tokens[i-1].at, Message: `"**" stands for whole components only`, Hint: "`*` within a component, `**/` before it"}
		}
	}
	return nil
}

func (b *pathBuilder) checkGlob(lit pathLiteral) *SpecError {
	ups := 0
	for i, tokens := range lit.components {
		if isText(tokens, "..") {
			if i != ups || lit.absolute || lit.home || !b.restrictive {
				return &SpecError{Offset: tokens[0].at, Message: `has ".." as a component, which cleaning removes`, Hint: "write the directory that is meant"}
			}
			ups++
		}
	}
	return nil
}

// addLiteral adds a literal in the forms in which values are compared.
func (b *pathBuilder) addLiteral(lit pathLiteral) {
	switch {
	case lit.absolute:
		b.addComponents(b.absolute(), lit.components, lit.below)
	case lit.home:
		b.addHome(lit)
	default:
		b.addComponents(0, lit.components, lit.below)
		if b.suspects {
			b.addElsewhere(lit)
		}
	}
}

// addHome adds a literal below "~": below the home directory, and for suspicion
// also as it is written and below any directory while the home is unknown.
func (b *pathBuilder) addHome(lit pathLiteral) {
	if home := b.env.Home; home != "" {
		b.addComponents(b.absolute(), append(splitLiteral(home).components, lit.components...), lit.below)
	} else if b.suspects {
		b.addComponents(b.anywhere(), lit.components, lit.below)
	}
	if b.suspects {
		b.addComponents(b.Text(0, "~/"), lit.components, lit.below)
	}
}

// addElsewhere adds where a relative literal may lie for suspicion: behind every
// component of an absolute path if the root is unknown (K19), at its absolute
// place if it climbs, and anywhere below "/" if it begins with "**" (K18).
func (b *pathBuilder) addElsewhere(lit pathLiteral) {
	rest := lit.components
	for len(rest) > 0 && isText(rest[0], "..") {
		rest = rest[1:]
	}
	ups := len(lit.components) - len(rest)
	root := splitLiteral(b.env.Root).components
	switch {
	case len(rest) == 0: // only "..": every climbing path, and no other
	case isDoubleStar(rest[0]) && ups == 0: // the same states, behind "/" too
		b.Free(b.Text(0, "/"), b.names(0))
		if len(rest) == 1 {
			b.Accept(b.Loop(b.Text(0, "/"), automaton.Any))
		}
	case b.env.Root == "":
		b.addComponents(b.anywhere(), rest, lit.below)
	case ups > 0:
		above := root[:max(0, len(root)-ups)]
		b.addComponents(b.absolute(), append(above[:len(above):len(above)], rest...), lit.below)
	}
}

// absolute returns the state behind the first "/" of an absolute literal.
func (b *pathBuilder) absolute() int {
	if b.top == 0 {
		b.top = b.State()
		b.Edge(0, automaton.Single('/'), b.top)
		b.Edge(0, automaton.Single(rootMark), b.top)
	}
	return b.top
}

// anywhere returns the state behind any number of components of an absolute path.
func (b *pathBuilder) anywhere() int { return b.names(b.Text(0, "/")) }

// names returns the state that is reached from at by any number of components with
// a separator behind each. All that begin there share it.
func (b *pathBuilder) names(at int) int {
	if start, ok := b.behind[at]; ok {
		return start
	}
	start, inside := b.State(), b.State()
	if b.behind == nil {
		b.behind = make(map[int]int)
	}
	b.behind[at] = start
	b.Free(at, start)
	b.Edge(start, notSlash, inside)
	b.Edge(inside, notSlash, inside)
	b.Edge(inside, automaton.Single('/'), start)
	return start
}

// addComponents adds paths whose components, behind at, match those given.
func (b *pathBuilder) addComponents(at int, components [][]globToken, below bool) {
	separate := false // a separator stands before the next component
	for i, c := range components {
		switch {
		case !isDoubleStar(c):
			if separate {
				at = b.Text(at, "/")
			}
			at, separate = b.addComponent(at, c), true
		case separate: // any number of components with a separator before each
			before, name := b.State(), b.State()
			b.Free(at, before)
			b.Edge(b.Text(before, "/"), notSlash, name)
			b.Edge(name, notSlash, name)
			b.Free(name, before)
			at = before
		case i < len(components)-1:
			at = b.names(at)
		default: // none, or one after any number of others
			b.Accept(at)
			name := b.State()
			b.Edge(b.names(at), notSlash, name)
			b.Edge(name, notSlash, name)
			at = name
		}
	}
	b.Accept(at)
	if below && separate {
		at = b.Text(at, "/")
	}
	if below {
		b.Accept(b.Loop(at, automaton.Any))
	}
}

// addComponent adds one component, which is never empty.
func (b *pathBuilder) addComponent(at int, tokens []globToken) int {
	if len(tokens) == 1 && tokens[0].kind == globStar {
		name := b.State()
		b.Edge(at, notSlash, name)
		at = name
	}
	return addRun(b.NFA, at, tokens, notSlash, b.folded)
}

func isDoubleStar(tokens []globToken) bool {
	return len(tokens) == 2 && tokens[0].kind == globStar && tokens[1].kind == globStar
}

func isText(tokens []globToken, text string) bool {
	s, n := literalRun(tokens)
	return n == len(tokens) && s == text
}

// addSuffix adds every path that ends with a text. For certainty it lies below
// the root: no literal says where else it could.
func (b *pathBuilder) addSuffix(text string) *SpecError {
	switch {
	case text == "":
		return whole(0, "is empty, so the condition always matches", "leave the condition out")
	case strings.HasSuffix(text, "/"):
		return whole(0, "ends with a separator, which cleaning removes", "")
	case strings.ContainsFunc(text, invisible):
		return whole(0, "has a control or invisible character", "")
	}
	if b.folded {
		text = fold(text)
	}
	if b.suspects {
		b.Accept(b.Text(b.Loop(0, automaton.Any), text))
		return nil
	}
	if !strings.HasPrefix(text, "/") {
		b.Accept(b.Text(0, text))
	}
	first := b.State()
	b.Edge(0, notSlash, first)
	b.Accept(b.Text(b.Loop(first, automaton.Any), text))
	return nil
}
