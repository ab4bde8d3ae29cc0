package eval

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// walker follows one view along the events of a document: it tracks the shape of every open
// container, and evaluates the conditions of a value's shape.
type walker struct {
	view         *view
	frames       []frame
	seen         []uint64 // for each open object: the keys and members that were seen
	next         position // of the member with the last key
	skipDepth    int      // nesting depth in a skipped container
	coverDecided bool     // cover of the value of the last key is already decided
	vector       position // of the current argument vector, if the walker skips it
}

// position is a shape, and whether several values can be there.
type position struct {
	shape *shape
	many  bool
	// optional is set for the value of a member that the schema declares and does not require.
	optional bool
}

// frame is one open container.
type frame struct {
	position
	inside *shape // the shape whose keys or items apply to its members
	array  bool
	count  int // number of elements so far
	seen   int // start of its words in walker.seen
	// covered: its content needs no cover of its own.
	covered bool
}

func (w *walker) reset(v *view) {
	w.view = v
	w.frames, w.seen, w.skipDepth = w.frames[:0], w.seen[:0], 0
	w.next, w.vector, w.coverDecided = position{shape: v.root}, position{}, false
}

// event takes one event. The evaluation handles string pieces, since it has the current tests.
func (w *walker) event(e *leafTests, ev *jsonstream.Event) {
	if w.skipDepth > 0 {
		switch ev.Kind {
		case jsonstream.ObjectStart, jsonstream.ArrayStart:
			w.skipDepth++
		case jsonstream.ObjectEnd, jsonstream.ArrayEnd:
			if w.skipDepth--; w.skipDepth == 0 && w.vector.shape != nil {
				w.closeVector(e)
			}
		}
		return
	}
	switch ev.Kind {
	case jsonstream.Key:
		w.key(e, ev.Text)
	case jsonstream.ObjectStart, jsonstream.ArrayStart:
		w.open(e, w.begin(e), ev.Kind == jsonstream.ArrayStart)
	case jsonstream.ObjectEnd:
		w.closeObject(e)
	case jsonstream.ArrayEnd:
		w.closeArray(e)
	case jsonstream.StringStart:
		if p := w.begin(e); p.shape != nil {
			w.spelled(e, p.shape)
			w.startText(e, p, stringType)
		}
	case jsonstream.StringEnd:
		w.endString(e)
	case jsonstream.Number, jsonstream.True, jsonstream.False, jsonstream.Null:
		if p := w.begin(e); p.shape != nil {
			w.scalar(e, p, ev)
		}
	}
}

// begin returns the position of the value that begins now.
func (w *walker) begin(e *leafTests) position {
	if len(w.frames) == 0 {
		return w.next
	}
	f := &w.frames[len(w.frames)-1]
	if !f.array {
		return w.next
	}
	f.count++
	for i := range f.shape.counts {
		t := &f.shape.counts[i]
		if m := t.texts[0]; m.Items(f.count) == (m.Kind() == condition.MinItems) {
			e.leaf(t.site, m.Kind() == condition.MinItems, false)
		}
	}
	if n := f.count - 1; n < len(f.inside.prefix) {
		return position{shape: f.inside.prefix[n], many: true}
	}
	return position{shape: f.inside.items, many: true}
}

// open enters a container.
func (w *walker) open(e *leafTests, p position, array bool) {
	s := p.shape
	switch {
	case s == nil:
		w.skipDepth = 1
		return
	case array && s.vector: // evaluated when complete
		w.contained(e, s, false)
		w.skipDepth, w.vector = 1, p
		return
	}
	covered := w.contained(e, s, array && s.wrongArray || !array && s.wrongObject)
	w.frames = append(w.frames, frame{position: p, inside: s, array: array, covered: covered, seen: len(w.seen)})
	f := &w.frames[len(w.frames)-1]
	if array {
		if s.wrongArray {
			w.refuse(e, s)
		}
		for i := range s.counts {
			t := &s.counts[i]
			if m := t.texts[0]; m.Kind() == condition.MinItems && m.Items(0) && !e.plan.conds[t.cond].all {
				e.leaf(t.site, true, false)
			}
		}
	} else {
		w.openObject(e, f)
	}
}

// refuse takes a container of a type that the schema does not declare: only generous conditions
// follow it (B1). In place of a command it is one that no rule permits.
func (w *walker) refuse(e *leafTests, s *shape) {
	for _, site := range s.under {
		if k := &e.plan.conds[e.plan.sites[site]]; !k.generous() || k.command >= 0 {
			e.missing(site)
		}
	}
}

func (w *walker) openObject(e *leafTests, f *frame) {
	s := f.shape
	if s.wrongObject {
		w.refuse(e, s)
	}
	for i := range s.tests {
		t := &s.tests[i]
		switch {
		case t.present:
			e.present(t.site, s.wrongObject, !f.many)
		case t.origin && !s.wrongObject: // by leaf
		case t.fits&objectType == 0:
			e.missing(t.site)
		}
	}
	for i := range s.counts {
		e.missing(s.counts[i].site)
	}
	for _, site := range s.within {
		e.missing(site)
	}
	if s.object != nil {
		f.inside = s.object
	}
	for range f.inside.words {
		w.seen = append(w.seen, 0)
	}
}

func (w *walker) closeObject(e *leafTests) {
	f := &w.frames[len(w.frames)-1]
	s := f.shape
	seen := w.seen[f.seen:]
	for _, g := range f.inside.edges {
		if seen[g.bit>>6]&(1<<(g.bit&63)) == 0 {
			for _, a := range g.absent {
				e.absent(a, g.defaulted || f.many)
			}
			e.endCommand()
		}
	}
	for i := range s.tests {
		if t := &s.tests[i]; t.fits&objectType != 0 {
			e.leaf(t.site, t.texts[0].Canonical(e.canonical()), false)
		}
	}
	w.end(e, f.position)
	w.seen = w.seen[:f.seen]
	w.frames = w.frames[:len(w.frames)-1]
}

func (w *walker) closeArray(e *leafTests) {
	f := &w.frames[len(w.frames)-1]
	s := f.shape
	for i := range s.counts {
		t := &s.counts[i]
		if f.count > 0 || !e.plan.conds[t.cond].all {
			e.leaf(t.site, t.texts[0].Items(f.count), false)
		}
	}
	if f.count == 0 {
		for _, site := range s.under {
			e.state.empty(site, f.optional)
		}
	}
	w.end(e, f.position)
	w.frames = w.frames[:len(w.frames)-1]
}

// end takes the end of a value: if it is the only one that can be here, no further leaf can appear
// here or below.
func (w *walker) end(e *leafTests, p position) {
	if !p.many {
		for _, site := range p.shape.under {
			if !e.done[site] {
				e.exhaust(site)
			}
		}
	}
}

// scalar takes a number, a boolean or null.
func (w *walker) scalar(e *leafTests, p position, ev *jsonstream.Event) {
	s := p.shape
	kind, sole := scalarType(ev.Kind), !p.many
	for i := range s.tests {
		t := &s.tests[i]
		switch {
		case t.index != nil:
			e.judgeScalar(t, kind&t.fits&^t.wrong != 0, ev, sole && !t.many)
		case t.present && kind == nullType:
			e.presentNull(t.site, !p.many)
		case t.present:
			e.present(t.site, false, !p.many)
		case t.origin:
			e.scalarOrigin(t, ev, kind, p)
		case kind&t.fits&^t.wrong == 0:
			e.leaf(t.site, false, sole && !t.many)
		case kind == nullType:
			e.leaf(t.site, t.texts[0].Null(), sole && !t.many)
		case kind == booleanType:
			e.leaf(t.site, t.texts[0].Bool(ev.Kind == jsonstream.True), sole && !t.many)
		default:
			number, err := jsonstream.ParseDecimal(ev.Text)
			e.leaf(t.site, err == nil && t.texts[0].Number(number), sole && !t.many)
		}
	}
	w.notContainer(e, p)
	e.endCommand()
	w.endScalar(e, p)
}

// judgeScalar evaluates a scalar by the index of a bundle. One that does not fit satisfies no
// condition.
func (e *leafTests) judgeScalar(t *test, fits bool, ev *jsonstream.Event, sole bool) {
	e.hits.Reset()
	switch {
	case !fits || e.conds[t.cond].phase != waiting:
	case ev.Kind == jsonstream.Number:
		t.index.Number(ev.Text, !sole || e.conds[t.cond].open > 1, &e.hits)
	default:
		t.index.Bool(ev.Kind == jsonstream.True, &e.hits)
	}
	e.matched(t.cond, t.site, &e.hits, sole)
}

// notContainer takes a value that has no elements to count.
func (w *walker) notContainer(e *leafTests, p position) {
	for i := range p.shape.counts {
		e.leaf(p.shape.counts[i].site, false, !p.many)
	}
}

// endScalar takes the end of a value without members: the branches of longer pointers end here.
func (w *walker) endScalar(e *leafTests, p position) {
	for _, site := range p.shape.deeper {
		e.missing(site)
	}
	w.end(e, p)
}

// startText begins the tests of a string, or of an argument vector, which is an array.
func (w *walker) startText(e *leafTests, p position, written typeSet) {
	s := p.shape
	for i := range s.tests {
		t := &s.tests[i]
		sole := !p.many && !t.many
		switch {
		case t.present:
			e.present(t.site, false, !p.many)
		case stringType&t.fits != 0 && written&t.wrong == 0:
			if e.conds[t.cond].phase != waiting {
				continue
			}
			switch {
			case t.index != nil:
				e.startIndex(t, sole)
			case t.lines != nil:
				e.startLines(t, sole)
			default:
				e.startTest(t, sole, p.optional)
			}
		case t.index != nil:
			e.hits.Reset()
			e.matched(t.cond, t.site, &e.hits, sole)
		default:
			e.leaf(t.site, false, sole)
		}
	}
	w.notContainer(e, p)
	if s.needs != 0 {
		e.watches = append(e.watches, textWatch{view: w.view, shape: s})
	}
	if len(s.suspects) > 0 && written == stringType {
		e.suspects = append(e.suspects, s.suspects...)
	}
}

// endString takes the closing quote, after the tests have ended.
func (w *walker) endString(e *leafTests) {
	p := w.next
	if n := len(w.frames); n > 0 && w.frames[n-1].array {
		f := &w.frames[n-1]
		p = position{shape: f.inside.items, many: true}
		if i := f.count - 1; i < len(f.inside.prefix) {
			p.shape = f.inside.prefix[i]
		}
	}
	if p.shape != nil {
		w.endScalar(e, p)
	}
}

// key takes a key of the innermost object.
func (w *walker) key(e *leafTests, key []byte) {
	f := &w.frames[len(w.frames)-1]
	s := f.inside
	g := s.edge(key)
	if g == nil {
		w.otherKey(e, f, key)
		return
	}
	w.next = position{shape: g.to, many: f.many, optional: g.optional}
	w.keyed(e, f, g.to)
	if g.bit >= 0 {
		w.seen[f.seen+int(g.bit>>6)] |= 1 << (g.bit & 63)
	}
	if g.class >= 0 {
		w.claim(e, f, g.class)
	}
}

// claim records a key of a class. A second one is ambiguous: some parsers read both as the same
// parameter (A4-A6, A25, B6).
func (w *walker) claim(e *leafTests, f *frame, class int32) {
	word, bit := f.seen+int(class>>6), uint64(1)<<(class&63)
	if w.seen[word]&bit != 0 {
		e.ambiguous(w.view)
	}
	w.seen[word] |= bit
}

// otherKey takes a key that neither the schema nor a rule names.
func (w *walker) otherKey(e *leafTests, f *frame, key []byte) {
	s := f.inside
	w.next = position{shape: s.extra, many: true}
	for i := range s.others {
		e.keyOrigin(&s.others[i], key)
	}
	if !s.judges {
		w.keyed(e, f, s.extra)
		return
	}
	m := s.location.Member(key)
	if w.coverDecided = true; m.Kind != schema.Undeclared && m.Kind != schema.Forbidden { // unknown_params applies to these
		w.keyed(e, f, s.extra)
	}
	if m.Kind == schema.Ambiguous {
		e.ambiguous(w.view)
	}
	if m.Property >= 0 {
		w.claim(e, f, int32(m.Property))
	}
	if m.Kind == schema.Undeclared || m.Kind == schema.Forbidden {
		e.unknown(w.view)
	}
}

// canonical returns the canonical text of the object that has just ended.
func (e *leafTests) canonical() []byte {
	e.object = jsonstream.AppendCanonical(e.object[:0], e.value)
	return e.object
}
