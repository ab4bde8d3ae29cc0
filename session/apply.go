package session

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
)

// Keys are the cells that a fact touches; they must be loaded for [Apply]. Those
// that a result touches are the keys of its Released fact.
func (f *Fact) Keys() []Key { return f.AppendKeys(make([]Key, 0, 3+len(f.Marks))) }

// AppendKeys adds the cells that a fact touches to those of a list that has no key
// twice.
func (f *Fact) AppendKeys(keys []Key) []Key {
	keys = addKey(keys, &Self)
	var k Key
	switch f.Kind {
	case Released:
		id := f.idKey()
		keys = addKey(keys, &id)
		for i := range f.Marks {
			keys = addKey(keys, &f.Marks[i].Key)
		}
		k = CallKey(f.Proposal)
	case Withdrawn, Succeeded, Finished, Failed, Absent:
		k = CallKey(f.Proposal)
	case Approved:
		k = ApprovalKey(f.Name)
	case Told:
		k = DataKey
	case Noted, Denied:
		k = f.Key
	}
	if k == (Key{}) {
		return keys
	}
	return addKey(keys, &k)
}

// DataKey is the cell of the session's data.
var DataKey = Key{Space: SpaceData}

// CallKey is the cell of a proposal.
func CallKey(id stopgate.ProposalID) Key { return Key{Space: SpaceCall, Value: string(id)} }

// ApprovalKey is the cell of the approvals of one name.
func ApprovalKey(name string) Key { return Key{Space: SpaceApproval, Name: name} }

// OpenKey is the cell that names the open proposals of a call id. Calls without an
// id are found by their tool (DECISIONS S23).
func OpenKey(id stopgate.CallID, tool stopgate.ToolName) Key {
	return Key{Space: SpaceCallID, Name: string(tool), Value: ValueOf(string(id))}
}

func (f *Fact) idKey() Key { return OpenKey(f.CallID, f.Tool) }

// Apply returns the state behind a fact. It is the only rule by which state
// changes: folding a log gives the cells that a store keeps. The fact has to be
// the next one, and the cells of [Fact.Keys] loaded.
func Apply(s State, f Fact) (State, error) {
	next := s.own()
	if err := next.apply(&f); err != nil {
		return s, err
	}
	next.handOut()
	return next, nil
}

// apply is Apply on a state that owns its list; the fact may be kept. After an error
// the state is of no use, but no cell has changed: all that a fact touches is found
// before any of it is written to.
func (s *State) apply(f *Fact) error {
	if f.Seq != s.Head+1 {
		return ErrOrder
	}
	s.Head = f.Seq
	switch f.Kind {
	case Released:
		return s.release(f)
	case Withdrawn, Succeeded, Finished, Failed, Absent:
		return s.finish(f)
	case Approved:
		k := ApprovalKey(f.Name)
		return s.note(&k, func(c *Cell) {
			c.permit(Permit{Seq: f.Seq, At: f.At, Certain: true, Observed: true})
		})
	case Told:
		return s.note(&DataKey, func(c *Cell) {
			c.Was = &Was{c.Text, c.Seq}
			c.Text, c.Seq, c.At = f.Text, f.Seq, f.At
		})
	case Noted:
		return s.note(&f.Key, func(c *Cell) {
			c.Text, c.Seq, c.At = f.Text, f.Seq, f.At
			c.permit(Permit{Seq: f.Seq, At: f.At, Certain: true, Observed: f.Observed, Text: f.Text})
		})
	case Denied:
		return s.deny(f)
	}
	return s.condition(f)
}

func (s *State) note(k *Key, change func(*Cell)) error {
	e, err := s.find(k)
	if err == nil {
		change(e.change())
	}
	return err
}

// usualCells is room for what an ordinary call touches.
const usualCells = 8

// touched appends the entries of a released call: its own, that of its id, and those of
// its marks.
func (s *State) touched(found []*Entry, f *Fact) ([]*Entry, error) {
	call, id := CallKey(f.Proposal), f.idKey()
	e, err := s.find(&call)
	if err != nil {
		return nil, err
	}
	found = append(found, e)
	if e, err = s.find(&id); err != nil {
		return nil, err
	}
	found = append(found, e)
	for i := range f.Marks {
		if e, err = s.find(&f.Marks[i].Key); err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// release records that a call left: what it counts, what it breaks, and that its
// result is waited for.
func (s *State) release(f *Fact) error {
	var room [usualCells]*Entry
	found, err := s.touched(room[:0], f)
	if err != nil {
		return err
	}
	self, err := s.find(&Self)
	if err != nil {
		return err
	}
	open := f.opened()
	c := found[0].change()
	c.Call, c.Seq, c.At = Issued{Fact: f}, f.Seq, f.At
	found[1].change().open(&open, maxNamed)
	for i := range f.Marks {
		m := &f.Marks[i]
		c := found[2+i].change()
		c.Seq, c.At = f.Seq, f.At
		if m.Breaks {
			c.Broken = f.Seq
		}
		if m.Opens {
			c.open(&open, bound(&m.Key))
		}
		if m.Counts {
			c.count(m, f.At, 1)
		}
	}
	if self.Cell.counting() {
		_, now := self.condition()
		now.Denials, now.Same, now.LastHash = 0, 0, ""
	}
	return nil
}

// opened names the call of a Released fact.
func (f *Fact) opened() Open {
	held := f.Release != nil && !f.Release.Observed && !(f.Release.Verdict.Decided && f.Release.Verdict.Mode.Permissive())
	return Open{Proposal: f.Proposal, At: f.At, Seq: f.Seq, Args: f.ArgsHash, Held: held}
}

// finish records how a released call ended. A call ends once.
func (s *State) finish(f *Fact) error {
	k := CallKey(f.Proposal)
	call, err := s.find(&k)
	if err != nil {
		return err
	}
	released := call.Cell.Call.Fact
	if released == nil || call.Cell.Call.Done != "" {
		return ErrUnknown
	}
	var room [usualCells]*Entry
	found, err := s.touched(room[:0], released)
	if err != nil {
		return err
	}
	c := found[0].change()
	c.Call, c.Seq, c.At = Issued{Fact: released, Done: f.Kind, End: f}, f.Seq, f.At
	c = found[1].change()
	c.close(f.Proposal)
	if f.Kind != Withdrawn {
		c.past(released.opened())
	}
	for i := range released.Marks {
		m := &released.Marks[i]
		c := found[2+i].change()
		c.Seq, c.At = f.Seq, f.At
		c.close(f.Proposal)
		failed := f.Kind == Failed || f.Kind == Absent
		back := m.Counts && (f.Kind == Withdrawn || failed && !m.Keeps && (f.Observed || !m.Distrusts))
		if back {
			c.count(m, released.At, -1)
		}
		if m.Key.Space == SpaceLimit && (back || m.Opens) && f.Kind != Withdrawn {
			c.back(Back{Seq: f.Seq, At: released.At, Amount: m.Amount})
		}
		if m.Permits && (f.Kind == Succeeded || f.Kind == Finished) || m.Absent && f.Kind == Absent && f.Observed {
			c.permit(Permit{Seq: f.Seq, At: f.At, Certain: f.Kind != Finished, Observed: f.Observed, Hash: f.Hash})
		}
	}
	return nil
}

func (s *State) deny(f *Fact) error {
	self, err := s.find(&Self)
	if err != nil {
		return err
	}
	if f.Key != (Key{}) {
		if err := s.note(&f.Key, func(c *Cell) { c.Text, c.Seq, c.At = string(f.Code), f.Seq, f.At }); err != nil {
			return err
		}
	}
	_, now := self.condition()
	now.Denials++
	if now.LastHash == f.ArgsHash && f.ArgsHash != "" {
		now.Same++
	} else {
		now.Same, now.LastHash = 1, f.ArgsHash
	}
	return nil
}

// condition applies the facts about the session itself. A kind that this version
// does not know changes nothing but the position.
func (s *State) condition(f *Fact) error {
	self, err := s.find(&Self)
	if err != nil {
		return err
	}
	c, now := self.condition()
	switch f.Kind {
	case Spoke:
		now.Denials, now.Same, now.LastHash, now.Spoke = 0, 0, "", f.Seq
		now.Heard = f.Hash
	case Snapshot:
		now.Snapshots++
	case Restored:
		now.rewind(Span{After: f.To, To: f.Seq})
		now.Restored++
	case Degraded:
		now.Degraded = true
	case Reconciled:
		now.Degraded = false
		now.Denials, now.Same, now.LastHash = 0, 0, ""
	}
	c.Seq, c.At = f.Seq, f.At
	return nil
}

// counting reports whether there were denials that a release ends.
func (c *Cell) counting() bool {
	return c.Self != nil && (c.Self.Denials != 0 || c.Self.Same != 0 || c.Self.LastHash != "")
}

func (c *Cell) self() Condition {
	if c.Self == nil {
		return Condition{}
	}
	return *c.Self
}

// Condition is the session's own state, of the cell of [Self].
func (c *Cell) Condition() Condition { return c.self() }

// rewind adds a span; what it overlaps becomes part of it.
func (c *Condition) rewind(span Span) {
	kept := make([]Span, 0, len(c.Rewinds)+1)
	for _, old := range c.Rewinds {
		if old.To < span.After {
			kept = append(kept, old)
			continue
		}
		span.After = min(span.After, old.After)
	}
	if kept = append(kept, span); len(kept) > maxRewinds {
		kept[1].After = kept[0].After // more is taken back than was asked for
		kept = kept[1:]
	}
	c.Rewinds = kept
}

// What follows changes cells that [Entry.change] returned: their lists are their own.

func (c *Cell) permit(p Permit) { c.Permits = push(c.Permits, &p, maxPermits) }

// push adds an item to a list of so many at most; the oldest make room.
func push[T any](list []T, item *T, most int) []T {
	if len(list) == most {
		copy(list, list[1:])
		list[most-1] = *item
		return list
	}
	return append(newest(list, most-1), *item)
}

// newest drops the oldest items of a list that has too many.
func newest[T any](list []T, most int) []T {
	if over := len(list) - most; over > 0 {
		return slices.Delete(list, 0, over)
	}
	return list
}

// bound is how many calls in flight a cell names: all that a limit may count, or as
// many as it takes to say that something is under way.
func bound(k *Key) int {
	if k.Space == SpaceLimit {
		return MaxOpen
	}
	return maxNamed
}

// open adds a call in flight. The oldest of too many is forgotten.
func (c *Cell) open(o *Open, most int) { c.Open = push(c.Open, o, most) }

func (c *Cell) close(id stopgate.ProposalID) {
	if at := slices.IndexFunc(c.Open, func(o Open) bool { return o.Proposal == id }); at >= 0 {
		c.Open = slices.Delete(c.Open, at, at+1)
	}
	if len(c.Open) == 0 {
		c.Open = nil
	}
}

// past adds a call that has ended, in the order in which they were released. The
// oldest of too many is forgotten.
func (c *Cell) past(o Open) {
	at, _ := slices.BinarySearchFunc(c.Past, o.Seq, func(p Open, seq uint64) int { return cmp.Compare(p.Seq, seq) })
	c.Past = newest(slices.Insert(c.Past, at, o), maxPast)
}

// back remembers what was given back.
func (c *Cell) back(b Back) {
	if len(c.Back) >= maxBack {
		c.Lost = c.Back[0].Seq
	}
	c.Back = push(c.Back, &b, maxBack)
}

// Without returns a cell of SpaceCallID that does not name a released call, for a store
// that forgets the call; the cell itself if it does not.
func (c *Cell) Without(released *Fact) *Cell {
	if older(released, c.Open) && older(released, c.Past) {
		return c
	}
	id := released.Proposal
	named := func(o Open) bool { return o.Proposal == id }
	if !slices.ContainsFunc(c.Open, named) && !slices.ContainsFunc(c.Past, named) {
		return c
	}
	some := c.copy()
	some.close(id)
	if some.Past = slices.DeleteFunc(some.Past, named); len(some.Past) == 0 {
		some.Past = nil
	}
	return some
}

// older reports that a call was released before all of a list.
func older(released *Fact, list []Open) bool { return len(list) == 0 || released.Seq < list[0].Seq }

// count adds n calls, at the time at, to the totals.
func (c *Cell) count(m *Mark, at int64, n int64) {
	c.Count = max(c.Count+n, 0)
	c.Sum = total(c.Sum, m.Amount, n)
	if m.Step <= 0 {
		return
	}
	step := at / m.Step
	steps := c.Steps
	i, found := slices.BinarySearchFunc(steps, step, func(s Step, at int64) int {
		switch {
		case s.At < at:
			return -1
		case s.At > at:
			return 1
		}
		return 0
	})
	if !found {
		if n < 0 { // it left the window before it was given back
			return
		}
		steps = slices.Insert(steps, i, Step{At: step})
	}
	steps[i].Count = max(steps[i].Count+n, 0)
	steps[i].Sum = total(steps[i].Sum, m.Amount, n)
	// What is older than the window is dropped.
	newest := steps[len(steps)-1].At
	old := 0
	for steps[old].At < newest-Steps {
		old++
	}
	c.Steps = slices.Delete(steps, 0, old)
}

func total(sum, amount Amount, n int64) Amount {
	if n < 0 {
		return sum.Sub(amount)
	}
	return sum.Add(amount)
}
