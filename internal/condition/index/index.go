package index

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/schema"
)

// Member is one condition.
type Member struct {
	// ID identifies the member; smaller ones are earlier in their list.
	ID int32
	// Class is the mode of its rule.
	Class uint8
	// Readings evaluate a string: one matcher, or several if the value may be plain text or a path.
	// A restrictive condition needs one of them to hold, a permissive one all. The first one
	// evaluates everything else.
	Readings []*match.Matcher
	// Texts are further readings, which compare with texts and need no matcher.
	Texts []Texts
}

// Texts is one reading of a condition that [Holds] reports, which fits its target.
type Texts struct {
	Target condition.Target
	Kind   condition.Kind
	Texts  []string
	// Compile compiles the condition, for a text that no look-up finds.
	Compile func() *match.Matcher
}

// Holds reports whether the index looks up the texts of a condition of kind const, enum, prefix or
// glob on a target.
func Holds(k condition.Kind, texts []string, t *condition.Target) bool {
	switch {
	case t.Annotation == schema.Path && !t.Expands:
		return k != condition.Glob || pathname.Packs(texts)
	case t.Annotation == schema.None:
		return k != condition.Glob || !slices.ContainsFunc(texts, func(text string) bool { _, _, ok := plaintext.Beginning(text); return !ok })
	}
	return false
}

// Index is a set of conditions of one polarity on the values at one location.
type Index struct {
	restrictive bool
	env         condition.Env
	entries     []literal.Entry
	tree        *literal.Tree // reading as plain text, nil if there is none
	paths       *pathname.Group
	rest        rest     // reading as plain text of conditions without literals
	sure        bool     // some members are decided before any text
	plain       bool     // before the end of a text only the tree decides
	single      []Member // whose path reading is evaluated separately
	textPaths   bool     // a condition that compares paths with texts was added
	sweeps      []*match.Matcher
	unknown     []*match.Matcher // those that may not know a path
	classes     []uint8          // by member
	readings    []uint8          // number of readings of each member
	late        literal.Summary
	numbers     numbers
	isTrue      []int32
	isFalse     []int32
}

// New returns an empty index.
func New(restrictive bool, env condition.Env) *Index {
	return &Index{restrictive: restrictive, rest: rest{restrictive: restrictive}, env: env, paths: pathname.NewGroup(env, restrictive), late: literal.Empty()}
}

// Add adds a condition: const, enum, prefix, suffix, glob, pattern, or a range. Members are added
// in the order of their IDs.
func (x *Index) Add(m Member) {
	for int(m.ID) >= len(x.classes) {
		x.classes, x.readings = append(x.classes, 0), append(x.readings, 0)
	}
	x.classes[m.ID] = m.Class
	only := len(m.Readings)+len(m.Texts) == 1
	for _, r := range m.Readings {
		texts, prefix, literals := literalsOf(r)
		if r.Fits()&schema.String == 0 {
			continue
		}
		x.readings[m.ID]++
		if r.JudgesSweeps() {
			x.sweeps = append(x.sweeps, r)
		}
		if r.MayBeUnknown() {
			x.addUnknown(r)
		}
		if r.Annotation() != schema.None {
			x.addPath(m, r, only)
			continue
		}
		if r.Kind() == condition.Pattern || r.Kind() == condition.Glob || r.Kind() == condition.Suffix {
			x.rest.add(m.ID, r)
		}
		if !literals {
			continue
		}
		for _, text := range texts {
			x.entries = append(x.entries, literal.Entry{Text: text, Prefix: prefix, Member: m.ID, Class: m.Class})
		}
	}
	if len(m.Readings) > 0 {
		x.addValues(m.ID, m.Class, m.Readings[0])
	}
	for i := range m.Texts {
		x.addTexts(m, &m.Texts[i], only)
	}
}

// addTexts adds a reading without a matcher; only is set for the only one of its member.
func (x *Index) addTexts(m Member, r *Texts, only bool) {
	x.readings[m.ID]++
	if r.Target.Annotation == schema.None {
		for _, text := range r.Texts {
			below := r.Kind == condition.Prefix
			if r.Kind == condition.Glob {
				text, below, _ = plaintext.Beginning(text)
			}
			x.entries = append(x.entries, literal.Entry{Text: text, Prefix: below, Member: m.ID, Class: m.Class})
		}
		return
	}
	if !x.textPaths { // the unknown facts of the others are the same
		x.textPaths = true
		if reading := r.Compile(); reading.MayBeUnknown() {
			x.addUnknown(reading)
		}
	}
	if x.restrictive || only {
		x.late.Add(m.ID, m.Class)
	}
	if r.Kind == condition.Glob {
		x.paths.AddGlobs(r.Texts, m.ID)
	} else if !x.paths.AddTexts(r.Texts, r.Kind == condition.Prefix, m.ID) {
		x.single = append(x.single, Member{ID: m.ID, Class: m.Class, Readings: []*match.Matcher{r.Compile()}})
	}
}

// addPath adds a reading that is evaluated at the end of a value (K13). Until then a restrictive
// condition may still hold, whatever its plain text reading is, and so may a permissive one without
// other readings.
func (x *Index) addPath(m Member, r *match.Matcher, only bool) {
	if x.restrictive || only {
		x.late.Add(m.ID, m.Class)
	}
	if !x.paths.Add(r.Kind(), r.Written(), r.Test(), m.ID) {
		x.single = append(x.single, Member{ID: m.ID, Class: m.Class, Readings: []*match.Matcher{r}})
	}
}

// looksAtPaths reports whether a member is read as a path.
func (x *Index) looksAtPaths() bool { return !x.paths.Empty() || len(x.single) > 0 }

// JudgesSweeps reports whether Sweeps can be true for any value.
func (x *Index) JudgesSweeps() bool { return len(x.sweeps) > 0 }

// Sweeps reports whether a guard among the members could match a file that a command line reads
// without naming it; see [match.Matcher.Sweeps].
func (x *Index) Sweeps(v *condition.Value) bool {
	return slices.ContainsFunc(x.sweeps, func(m *match.Matcher) bool { return m.Sweeps(v) })
}

// addUnknown keeps one matcher of each kind: the unknown facts of a path are the same for all
// members that read it in the same way.
func (x *Index) addUnknown(m *match.Matcher) {
	if !slices.ContainsFunc(x.unknown, m.ReadsLike) {
		x.unknown = append(x.unknown, m)
	}
}

// Unknown returns the unknown facts of the paths that the members evaluate; see
// [match.Matcher.Unknown].
func (x *Index) Unknown(v *condition.Value) (unknown condition.Unknown) {
	for _, m := range x.unknown {
		unknown |= m.Unknown(v)
	}
	return unknown
}

func (x *Index) addValues(id int32, class uint8, m *match.Matcher) {
	if m.Bool(true) {
		x.isTrue = append(x.isTrue, id)
	}
	if m.Bool(false) {
		x.isFalse = append(x.isFalse, id)
	}
	x.numbers.add(id, class, m)
}

// Build completes the index. No member can be added afterwards.
func (x *Index) Build() {
	if len(x.entries) > 0 {
		var forms *literal.Forms
		if x.restrictive {
			forms = stringForms()
		}
		x.tree, x.entries = literal.NewTree(x.entries, forms), nil
	}
	x.rest.build()
	x.sure = x.rest.sure()
	x.paths.Build()
	x.numbers.sort()
	x.plain = x.tree != nil && len(x.rest.parts) == 0 && x.late.First() == literal.None && (x.restrictive || !x.looksAtPaths())
}

// State is the state of an index in one string that is still arriving.
type State struct {
	cursor literal.Cursor
	rest   restState
}

// Set copies another state into memory of its own.
func (s *State) Set(o *State) {
	s.cursor.Set(&o.cursor)
	s.rest.set(&o.rest)
}

// Start begins a string and reports whether a member is decided before its first byte.
func (x *Index) Start(s *State) (known bool) {
	if x.tree != nil {
		x.tree.Start(&s.cursor)
	}
	x.rest.start(&s.rest)
	return x.sure
}

// Arrives reports whether a member can be decided before the end of a string.
func (x *Index) Arrives() bool { return x.tree != nil || len(x.rest.parts) > 0 }

// Steady reports whether decisions stay as they are while a text continues. Forms that are
// evaluated at the end can withdraw a rejection after a blank.
func (x *Index) Steady() bool { return !x.rest.formless }

// Feed reads decoded text, complete code points, up to and including the first that decides about a
// member, and returns the number of bytes read. The tree and the automata advance together, so that
// none is ahead of a decision of another one.
func (x *Index) Feed(s *State, text []byte) (read int, changed bool) {
	switch {
	case !x.Arrives():
		return len(text), false
	case len(x.rest.parts) == 0, x.tree != nil && x.rest.decided(&s.rest):
		return x.tree.Feed(&s.cursor, text)
	case x.rest.decided(&s.rest):
		return len(text), false
	case x.tree == nil || x.tree.Done(&s.cursor):
		return x.rest.feed(&s.rest, text)
	}
	for read < len(text) && !changed {
		point := text[read : read+pointLength(text[read:])]
		_, changed = x.tree.Feed(&s.cursor, point)
		if _, found := x.rest.feed(&s.rest, point); found {
			changed = true
		}
		if read += len(point); !changed && x.tree.Done(&s.cursor) {
			n, found := x.rest.feed(&s.rest, text[read:])
			return read + n, found
		}
	}
	return read, changed
}

// Lost reports whether no continuation satisfies any member.
func (x *Index) Lost(s *State) bool {
	return x.late.First() == literal.None && len(x.sweeps) == 0 &&
		(x.tree == nil || x.tree.Lost(&s.cursor)) && (len(x.rest.parts) == 0 || x.rest.lost(&s.rest))
}

// Known returns Hit and Open without building summaries; ok is false if the index or the text is
// not simple enough. The summaries are valid until the state changes.
func (x *Index) Known(s *State) (hit, open *literal.Summary, ok bool) {
	if !x.plain {
		return nil, nil, false
	}
	open, ok = x.tree.Ahead(&s.cursor)
	hit = s.cursor.Hit()
	return hit, open, ok && (x.restrictive || hit.First() == literal.None)
}

// Hit adds to a summary the members that every continuation satisfies.
func (x *Index) Hit(s *State, sum *literal.Summary) {
	if len(x.rest.parts) > 0 {
		x.rest.accepted(&s.rest, func(m int32) {
			if x.restrictive || x.readings[m] == 1 {
				sum.Add(m, x.classes[m])
			}
		})
	}
	if x.tree == nil {
		return
	}
	if x.restrictive || !x.looksAtPaths() {
		sum.Merge(s.cursor.Hit())
		return
	}
	for _, m := range s.cursor.Met() { // a permissive condition needs its other reading too
		if x.readings[m] == 1 {
			sum.Add(m, x.classes[m])
		}
	}
}

// Open adds to a summary the members that some continuations satisfy and some do not. It may also
// add members that are hit.
func (x *Index) Open(s *State, sum *literal.Summary) {
	sum.Merge(&x.late)
	if len(x.rest.parts) > 0 {
		add := func(m int32) { sum.Add(m, x.classes[m]) }
		x.rest.open(&s.rest, add)
		if !x.restrictive {
			x.rest.accepted(&s.rest, add)
		}
	}
	if x.tree == nil {
		return
	}
	x.tree.Open(&s.cursor, sum)
	if !x.restrictive {
		sum.Merge(s.cursor.Hit())
	}
}

// Sure reports whether every continuation satisfies a member.
func (x *Index) Sure(s *State, member int32) bool {
	return (x.restrictive || x.readings[member] == 1) &&
		(x.rest.fate(&s.rest, member) == automaton.Accepts || x.tree != nil && slices.Contains(s.cursor.Met(), member))
}

// Alive reports whether some continuation satisfies a member.
func (x *Index) Alive(s *State, member int32) bool {
	if x.tree != nil && x.tree.Alive(&s.cursor, member) || x.rest.fate(&s.rest, member) != automaton.Rejects {
		return true
	}
	return (x.restrictive && x.readings[member] > 0 || x.readings[member] == 1) && x.hasPath(member)
}

// hasPath reports whether a member is read as a path.
func (x *Index) hasPath(member int32) bool {
	return x.paths.Has(member) || slices.ContainsFunc(x.single, func(m Member) bool { return m.ID == member })
}

// HasSingle reports whether Single returns a matcher for any member.
func (x *Index) HasSingle() bool { return len(x.single) > 0 }

// Single returns the matcher of a member that is evaluated separately, nil for all others.
func (x *Index) Single(member int32) *match.Matcher {
	for i := range x.single {
		if x.single[i].ID == member {
			return x.single[i].Readings[0]
		}
	}
	return nil
}
