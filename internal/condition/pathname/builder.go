package pathname

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Builder builds the set of canonical paths that the literals of a condition name; folded ones
// if the condition is restrictive.
type Builder struct {
	*automaton.NFA
	Env         condition.Env // normalised
	Restrictive bool          // globs also match everything below their matches
	Folded      bool
	Suspects    bool        // adds the other locations of relative literals
	top         int         // the state of absolute, 0 before first use
	after       map[int]int // see names
}

// add adds a value of a condition.
func (b *Builder) add(k condition.Kind, text string) *condition.SpecError {
	list, err := ReadPath(k, text, b.Restrictive)
	if err == nil {
		b.addAll(list)
	}
	return err
}

func (b *Builder) addAll(list []Literal) {
	for _, lit := range list {
		b.addLiteral(lit)
	}
}

// addLiteral adds a literal in the forms in which values are compared.
func (b *Builder) addLiteral(lit Literal) {
	switch {
	case lit.suffix != "":
		b.addSuffix(lit.suffix)
	case lit.absolute:
		b.addComponents(b.absolute(), lit.Components, lit.Below)
	case lit.home:
		b.addHome(lit)
	default:
		b.addComponents(0, lit.Components, lit.Below)
		if b.Suspects {
			b.addElsewhere(lit)
		}
	}
}

// addHome adds a literal below "~": below the home directory, and for restrictive conditions also
// as written, and below any directory if the home directory is unknown.
func (b *Builder) addHome(lit Literal) {
	if home := b.Env.Home; home != "" {
		b.addComponents(b.absolute(), append(SplitLiteral(home).Components, lit.Components...), lit.Below)
	} else if b.Suspects {
		b.addComponents(b.anywhere(), lit.Components, lit.Below)
	}
	if b.Suspects {
		b.addComponents(b.Text(0, "~/"), lit.Components, lit.Below)
	}
}

// addElsewhere adds the other locations of a relative literal for restrictive conditions: after
// every component of an absolute path if the root is unknown (K19), its absolute path if it climbs,
// and anywhere below "/" if it begins with "**" (K18).
func (b *Builder) addElsewhere(lit Literal) {
	rest := lit.Components
	for len(rest) > 0 && isText(rest[0], "..") {
		rest = rest[1:]
	}
	ups := len(lit.Components) - len(rest)
	root := SplitLiteral(b.Env.Root).Components
	switch {
	case len(rest) == 0: // only "..": every climbing path, and no other
	case isDoubleStar(rest[0]) && ups == 0: // the same states, also after "/"
		b.Free(b.Text(0, "/"), b.Names(0))
		if len(rest) == 1 {
			b.Accept(b.Loop(b.Text(0, "/"), automaton.Any))
		}
	case b.Env.Root == "":
		b.addComponents(b.anywhere(), rest, lit.Below)
	case ups > 0:
		above := root[:max(0, len(root)-ups)]
		b.addComponents(b.absolute(), append(above[:len(above):len(above)], rest...), lit.Below)
	}
}

// absolute returns the state after the first "/" of an absolute literal.
func (b *Builder) absolute() int {
	if b.top == 0 {
		b.top = b.State()
		b.Edge(0, automaton.Single('/'), b.top)
		b.Edge(0, automaton.Single(glob.Root), b.top)
	}
	return b.top
}

// anywhere returns the state after any number of components of an absolute path.
func (b *Builder) anywhere() int { return b.Names(b.Text(0, "/")) }

// Names returns the state that is reached from at by any number of components, each followed by a
// separator. All users share it.
func (b *Builder) Names(at int) int {
	if start, ok := b.after[at]; ok {
		return start
	}
	start, inside := b.State(), b.State()
	if b.after == nil {
		b.after = make(map[int]int)
	}
	b.after[at] = start
	b.Free(at, start)
	b.Edge(start, glob.Component, inside)
	b.Edge(inside, glob.Component, inside)
	b.Edge(inside, automaton.Single('/'), start)
	return start
}

// addComponents adds paths whose components after at match the given ones.
func (b *Builder) addComponents(at int, components [][]glob.Token, below bool) {
	separate := false // a separator precedes the next component
	for i, c := range components {
		switch {
		case !isDoubleStar(c):
			if separate {
				at = b.Text(at, "/")
			}
			at, separate = b.addComponent(at, c), true
		case separate: // any number of components, each after a separator
			before, name := b.State(), b.State()
			b.Free(at, before)
			b.Edge(b.Text(before, "/"), glob.Component, name)
			b.Edge(name, glob.Component, name)
			b.Free(name, before)
			at = before
		case i < len(components)-1:
			at = b.Names(at)
		default: // none, or one after any number of others
			b.Accept(at)
			name := b.State()
			b.Edge(b.Names(at), glob.Component, name)
			b.Edge(name, glob.Component, name)
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

// addComponent adds one non-empty component.
func (b *Builder) addComponent(at int, tokens []glob.Token) int {
	if len(tokens) == 1 && tokens[0].Kind == glob.Star {
		name := b.State()
		b.Edge(at, glob.Component, name)
		at = name
	}
	if b.Folded {
		return glob.Add(b.NFA, at, tokens, glob.Component, spelling.Fold)
	}
	return glob.Add(b.NFA, at, tokens, glob.Component, nil)
}

// addSuffix adds every path that ends with a text. For permissive conditions it is below the root,
// since no literal names another location.
func (b *Builder) addSuffix(text string) {
	if b.Folded {
		text = spelling.Fold(text)
	}
	if b.Suspects {
		b.Accept(b.Text(b.Loop(0, automaton.Any), text))
		return
	}
	if !strings.HasPrefix(text, "/") {
		b.Accept(b.Text(0, text))
	}
	first := b.State()
	b.Edge(0, glob.Component, first)
	b.Accept(b.Text(b.Loop(first, automaton.Any), text))
}

// Automaton builds the automaton of the paths that some literals name, without the additional
// spellings of restrictive conditions; nil if it is too large.
func Automaton(k condition.Kind, literals []string, env condition.Env, restrictive, folded bool) *automaton.DFA {
	b := Builder{NFA: automaton.New(), Env: pathform.NormalEnv(env), Restrictive: restrictive, Folded: folded}
	for _, text := range literals {
		_ = b.add(k, text) // compiled before
	}
	a := b.Compile().DFA()
	if a != nil && folded {
		a.FoldASCII()
	}
	return a
}
