package session

// Apply returns the state after a fact. It is the only way in which state changes:
// applying all facts of a log gives the cells that a store keeps. The fact must be the next
// one, and the cells of [Fact.Keys] must be loaded.
func Apply(s State, f Fact) (State, error) {
	next := s.clone()
	if err := next.apply(&f); err != nil {
		return s, err
	}
	next.shareCells()
	return next, nil
}

// apply is Apply in place, on a state that owns its list. It may keep f. All cells of the
// fact are looked up before the first is changed, so that no cell has changed after an
// error; the state must not be used then.
func (s *State) apply(f *Fact) error {
	if f.Seq != s.Head+1 {
		return errOrder
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
	case DataReplaced:
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
	case Begun:
		return s.note(&ProgramKey, func(c *Cell) { c.Seq, c.At = f.Seq, f.At })
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

// release applies a Released fact: its counts and invalidations, and the open call whose
// result is expected.
func (s *State) release(f *Fact) error {
	var buf [typicalCells]*Entry
	found, err := s.entriesOf(buf[:0], f)
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

// opened returns the open call of a Released fact.
func (f *Fact) opened() Open {
	held := f.Release != nil && !f.Release.Observed && !(f.Release.Verdict.Decided && f.Release.Verdict.Mode.Permissive())
	return Open{Proposal: f.Proposal, At: f.At, Seq: f.Seq, Args: f.ArgsHash, Held: held}
}

// finish applies the end of a released call. A call ends once.
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
	var buf [typicalCells]*Entry
	found, err := s.entriesOf(buf[:0], released)
	if err != nil {
		return err
	}
	c := found[0].change()
	c.Call, c.Seq, c.At = Issued{Fact: released, Done: f.Kind, End: f}, f.Seq, f.At
	c = found[1].change()
	c.close(f.Proposal)
	if f.Kind != Withdrawn {
		c.addPast(released.opened())
	}
	for i := range released.Marks {
		m := &released.Marks[i]
		c := found[2+i].change()
		c.Seq, c.At = f.Seq, f.At
		c.close(f.Proposal)
		failed := f.Kind == Failed || f.Kind == Absent
		refunded := m.Counts && (f.Kind == Withdrawn || failed && !m.Keeps && (f.Observed || !m.Distrusts))
		if refunded {
			c.count(m, released.At, -1)
		}
		if m.Key.Space == SpaceLimit && (refunded || m.Opens) && f.Kind != Withdrawn {
			c.addRefund(Refund{Seq: f.Seq, At: released.At, Amount: m.Amount})
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

// condition applies facts about the session itself. A kind that this version does not know
// changes only the position.
func (s *State) condition(f *Fact) error {
	self, err := s.find(&Self)
	if err != nil {
		return err
	}
	c, now := self.condition()
	switch f.Kind {
	case Spoke:
		now.Denials, now.Same, now.LastHash, now.Spoke = 0, 0, "", f.Seq
		now.LastMessage = f.Hash
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

// counting reports whether denials in a row are counted, which a release resets.
func (c *Cell) counting() bool {
	return c.Self != nil && (c.Self.Denials != 0 || c.Self.Same != 0 || c.Self.LastHash != "")
}

func (c *Cell) self() Condition {
	if c.Self == nil {
		return Condition{}
	}
	return *c.Self
}

// Condition returns the state of the session itself, from the cell of [Self].
func (c *Cell) Condition() Condition { return c.self() }

// rewind adds a span and merges the spans that it overlaps.
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
		kept[1].After = kept[0].After // the two oldest spans are merged with the positions between them
		kept = kept[1:]
	}
	c.Rewinds = kept
}
