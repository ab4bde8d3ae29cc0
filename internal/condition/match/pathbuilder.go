package match

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// pathBuilder builds the set of canonical paths that the literals of a condition name; folded ones
// if the condition is restrictive.
type pathBuilder struct {
	*automaton.NFA
	env         condition.Env // normalised
	restrictive bool          // globs also match everything below their matches
	folded      bool
	suspects    bool        // adds the other locations of relative literals
	top         int         // the state of absolute, 0 before first use
	after       map[int]int // see names
}

// add adds a value of a condition.
func (b *pathBuilder) add(k condition.Kind, text string) *condition.SpecError {
	list, err := readPath(k, text, b.restrictive)
	if err == nil {
		b.addAll(list)
	}
	return err
}

func (b *pathBuilder) addAll(list []pathLiteral) {
	for _, lit := range list {
		b.addLiteral(lit)
	}
}

// addLiteral adds a literal in the forms in which values are compared.
func (b *pathBuilder) addLiteral(lit pathLiteral) {
	switch {
	case lit.suffix != "":
		b.addSuffix(lit.suffix)
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

// addHome adds a literal below "~": below the home directory, and for restrictive conditions also
// as written, and below any directory if the home directory is unknown.
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

// addElsewhere adds the other locations of a relative literal for restrictive conditions: after
// every component of an absolute path if the root is unknown (K19), its absolute path if it climbs,
// and anywhere below "/" if it begins with "**" (K18).
func (b *pathBuilder) addElsewhere(lit pathLiteral) {
	rest := lit.components
	for len(rest) > 0 && isText(rest[0], "..") {
		rest = rest[1:]
	}
	ups := len(lit.components) - len(rest)
	root := splitLiteral(b.env.Root).components
	switch {
	case len(rest) == 0: // only "..": every climbing path, and no other
	case isDoubleStar(rest[0]) && ups == 0: // the same states, also after "/"
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

// absolute returns the state after the first "/" of an absolute literal.
func (b *pathBuilder) absolute() int {
	if b.top == 0 {
		b.top = b.State()
		b.Edge(0, automaton.Single('/'), b.top)
		b.Edge(0, automaton.Single(glob.Root), b.top)
	}
	return b.top
}

// anywhere returns the state after any number of components of an absolute path.
func (b *pathBuilder) anywhere() int { return b.names(b.Text(0, "/")) }

// names returns the state that is reached from at by any number of components, each followed by a
// separator. All users share it.
func (b *pathBuilder) names(at int) int {
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
func (b *pathBuilder) addComponents(at int, components [][]glob.Token, below bool) {
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
			at = b.names(at)
		default: // none, or one after any number of others
			b.Accept(at)
			name := b.State()
			b.Edge(b.names(at), glob.Component, name)
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
func (b *pathBuilder) addComponent(at int, tokens []glob.Token) int {
	if len(tokens) == 1 && tokens[0].Kind == glob.Star {
		name := b.State()
		b.Edge(at, glob.Component, name)
		at = name
	}
	if b.folded {
		return glob.Add(b.NFA, at, tokens, glob.Component, spelling.Fold)
	}
	return glob.Add(b.NFA, at, tokens, glob.Component, nil)
}

// addSuffix adds every path that ends with a text. For permissive conditions it is below the root,
// since no literal names another location.
func (b *pathBuilder) addSuffix(text string) {
	if b.folded {
		text = spelling.Fold(text)
	}
	if b.suspects {
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
