package pathname

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// OutsideTest matches a path that may lead out of the allowed paths: it holds unless every reading
// of the path is certainly allowed. It is restrictive only, so an unknown path is outside.
type OutsideTest struct {
	pathform.Context                  // restrictive, for readings
	sure             pathform.Context // permissive
	inside           *Test
	known            func() *automaton.DFA // the allowed paths, for analysis; nil if there are too many
	bounds           [2]func() *automaton.Bound
	answers          *memo // whether such paths are all allowed
}

// compileOutside compiles the allowed paths, which are the globs of permissive rules.
func compileOutside(s condition.Spec, expands, restrictive bool, env condition.Env) (condition.TextTest, *condition.SpecError) {
	if !restrictive {
		return nil, condition.Invalid(-1, "is for rules that restrict", "write a rule with `mode = \"ask\"` above the one that permits")
	}
	s.Kind = condition.Glob
	inside, err := Compile(s, expands, false, env)
	if err != nil {
		return nil, err
	}
	in := inside.(*Test)
	known := sync.OnceValue(func() *automaton.DFA { return allowedPaths(s, env) })
	t := &OutsideTest{Context: pathform.NewContext(env, expands, true), sure: in.Context, inside: in, known: known, answers: new(memo)}
	for i := range t.bounds {
		t.bounds[i] = sync.OnceValue(func() *automaton.Bound {
			if allowed := in.automaton().language.DFA(); allowed != nil {
				return automaton.NewBound(allowed, canonical[i == 1]())
			}
			return nil
		})
	}
	return t, nil
}

// allowedPaths returns the automaton of the allowed paths, for texts that are known to be canonical
// paths. It may accept texts that are not.
func allowedPaths(s condition.Spec, env condition.Env) *automaton.DFA {
	b := Builder{NFA: automaton.New(), Env: pathform.NormalEnv(env)}
	for _, lit := range s.Values {
		list, _ := ReadPath(condition.Glob, lit.Text, false) // compiled before
		for _, l := range list {
			n := len(l.Components)
			switch {
			case n == 0 || !isDoubleStar(l.Components[n-1]):
			case n == 1 && !l.absolute && !l.home:
				b.Accept(0)
				first := b.State()
				b.Edge(0, glob.Component, first)
				b.Accept(b.Loop(first, automaton.Any))
				continue
			case n > 1:
				l.Components, l.Below = l.Components[:n-1], true
			}
			b.addLiteral(l)
		}
	}
	return b.Compile().DFA()
}

func (t *OutsideTest) expanding() *OutsideTest {
	out := *t
	out.Context.Expands, out.sure.Expands = true, true
	return &out
}

func (t *OutsideTest) Match(value []byte) bool {
	var v pathform.Value
	v.Reset(value)
	return t.judge(&v)
}

func (t *OutsideTest) Judge(v *condition.Value) bool { return t.judge(pathform.Of(v)) }

func (t *OutsideTest) judge(v *pathform.Value) bool {
	if canonical, certain := v.Certain(&t.sure); certain {
		return !t.inside.Holds(canonical, false)
	}
	_, unknown := v.Readings(&t.Context)
	return unknown&condition.TooLong != 0 || t.leads(v)
}

// leads reports whether a reading of a value leads out.
func (t *OutsideTest) leads(v *pathform.Value) bool {
	list, _ := v.Readings(&t.Context)
	address, all := namesHost(v.Text()), bytes.Contains(v.Text(), []byte("..."))
	for _, r := range list {
		if address && r.Steps&pathform.StepURL != 0 || all && r.Steps&pathform.StepTrimmed != 0 {
			continue // of files on another machine; no tool takes ./... for ..
		}
		if !t.covers(r) {
			return true
		}
	}
	return false
}

// covers reports whether a reading, with all expansions of its wildcards, is allowed.
func (t *OutsideTest) covers(r pathform.Reading) bool {
	switch {
	case strings.HasPrefix(r.Path, "~"):
		// If the home directory is known, another reading is its absolute path.
		return t.Env.Home != "" && (r.Path == "~" || strings.HasPrefix(r.Path, "~/"))
	case r.Glob:
		return t.answers.ask(question{path: r.Path, glob: true, hidden: true}, func() bool { return t.includes(pathform.ValuePattern(r.Path, true), r.Path) })
	}
	return t.inside.Holds([]byte(r.Path), true)
}

// includes reports whether every path of a set is allowed. All of them begin as path does: at the
// root or at "/".
func (t *OutsideTest) includes(set *automaton.NFA, path string) bool {
	allowed := t.allowed(strings.HasPrefix(path, "/"))
	if Climbs([]byte(path)) || allowed == nil {
		return false
	}
	yes, proven := allowed.Includes(set)
	return yes && proven
}

// allowed returns the canonical paths that are allowed, absolute ones or those below the root; nil
// if there are too many.
func (t *OutsideTest) allowed(absolute bool) *automaton.Bound {
	if absolute {
		return t.bounds[1]()
	}
	return t.bounds[0]()
}

// canonical are the canonical paths that wildcards match, by whether they are absolute: no
// component is "..".
var canonical = map[bool]func() *automaton.DFA{
	false: sync.OnceValue(func() *automaton.DFA { return CanonicalPaths(false) }),
	true:  sync.OnceValue(func() *automaton.DFA { return CanonicalPaths(true) }),
}

// Sweeps: all files of an allowed directory are inside, except through links, which are not
// followed here.
func (t *OutsideTest) Sweeps(dir string, literal bool, which Swept) bool {
	return t.Context.AnyBelow(dir, literal, func(r pathform.Reading) bool {
		return !t.answers.ask(about(r.Path, r.Glob, which), func() bool { return t.includes(underneath(r.Path, r.Glob, which), r.Path) })
	})
}

// Walkers returns the paths outside, as analysis writes them. Those in a home directory, which may
// be an allowed path under another name, are excluded.
func (t *OutsideTest) Walkers() []automaton.Walker {
	allowed := t.known()
	if allowed == nil {
		return nil
	}
	return []automaton.Walker{&otherPaths{automata: Rooted(allowed, t.Env.Root), ids: make(map[[2]uint32]uint32)}}
}

// otherPaths is the set of paths that one or two automata all reject, without those that begin with
// "~". Its states are created on demand.
type otherPaths struct {
	automata []automaton.Walker
	states   [][2]uint32 // of the automata; number 0 is before the first code point
	ids      map[[2]uint32]uint32
}

func (w *otherPaths) First() uint32 {
	if len(w.states) == 0 {
		var first [2]uint32
		for i, p := range w.automata {
			first[i] = p.First()
		}
		w.states = append(w.states, first, [2]uint32{})
	}
	return 0
}

// inHome is the state of paths that begin with "~".
const inHome = 1

func (w *otherPaths) Next(state uint32, r rune) uint32 {
	if state == inHome || state == w.First() && r == '~' {
		return inHome
	}
	next := w.states[state]
	for i, p := range w.automata {
		next[i] = p.Next(next[i], r)
	}
	id, known := w.ids[next]
	if !known {
		id = uint32(len(w.states))
		w.states, w.ids[next] = append(w.states, next), id
	}
	return id
}

func (w *otherPaths) Accepting(state uint32) bool {
	if state == inHome {
		return false
	}
	for i, p := range w.automata {
		if p.Accepting(w.states[state][i]) {
			return false
		}
	}
	return true
}

func (w *otherPaths) Fate(state uint32) automaton.Fate {
	if state == inHome {
		return automaton.Rejects
	}
	fate := automaton.Accepts
	for i, p := range w.automata {
		switch p.Fate(w.states[state][i]) {
		case automaton.Accepts:
			return automaton.Rejects
		case automaton.Open:
			fate = automaton.Open
		}
	}
	return fate
}

func (w *otherPaths) Cuts() []rune {
	cuts := []rune{0, '~', '~' + 1}
	for _, p := range w.automata {
		cuts = append(cuts, p.Cuts()...)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// namesHost reports whether a text is a URL whose path names no file of this machine.
func namesHost(text []byte) bool {
	scheme, rest, ok := strings.Cut(string(text[:min(len(text), 32)]), "://")
	if !ok || rest == "" || rest[0] == '/' {
		return false
	}
	switch scheme {
	case "http", "https", "ssh", "git", "s3", "gs", "ftp", "ws", "wss", "postgres", "redis":
		return true
	}
	return false
}
