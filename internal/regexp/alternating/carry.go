package alternating

import "slices"

// carry finds the place in a generation of a state of an older one.
func (t *Table) carry(g *generation, s *State) uint32 {
	info := *t.state(s.view, s.at)
	if t.graph == nil {
		info.position = newCarrier(s.view.of.step.store, g.step.store).position(info.position)
	}
	return t.place(g, info)
}

// carrier copies sets of threads from one store to another.
type carrier struct {
	from, to       *store
	states, duties map[int32]int32
}

func newCarrier(from, to *store) *carrier {
	return &carrier{from: from, to: to, states: map[int32]int32{never: never, always: always}, duties: map[int32]int32{none: none}}
}

func (c *carrier) position(pos position) position {
	out := position{main: c.state(pos.main), trackers: slices.Clone(pos.trackers)}
	for i, tracker := range out.trackers {
		if tracker != resting {
			out.trackers[i] = c.state(tracker)
		}
	}
	return out
}

func (c *carrier) state(id int32) int32 {
	to, ok := c.states[id]
	if !ok {
		set := slices.Clone(c.from.states[id])
		for i := range set {
			set[i].duty = c.duty(set[i].duty)
		}
		to = c.to.state(c.to.normal(set))
		c.states[id] = to
	}
	return to
}

func (c *carrier) duty(id int32) int32 {
	to, ok := c.duties[id]
	if !ok {
		var set []int32
		for _, o := range c.from.duties[id] {
			set = append(set, c.state(o>>1)<<1|o&1)
		}
		slices.Sort(set)
		to = c.to.duty(set)
		c.duties[id] = to
	}
	return to
}
