package session

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
)

// What stands here changes cells that [Entry.change] returned: their lists are their own.

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
		steps, i = forget(steps, i)
	}
	steps[i].Count = max(steps[i].Count+n, 0)
	steps[i].Sum = total(steps[i].Sum, m.Amount, n)
	c.Steps = steps
}

// Bounds of what a cell keeps of other eras. An era is what was counted without a pause
// longer than the window: between two of them lies a long silence, or a clock that was set.
const (
	maxEras  = 3
	maxSteps = maxEras * (Steps + 1)
)

// forget drops what the step at i makes too old, and returns where the step is now. Only
// the step's own era is: a clock that was put forward and back again has to find what it
// counted before, and what it counts now, beside what was counted ahead of it (FM13).
func forget(steps []Step, i int) ([]Step, int) {
	first := i
	for first > 0 && steps[first].At-steps[first-1].At <= Steps {
		first--
	}
	kept := first
	for steps[kept].At < steps[i].At-Steps {
		kept++
	}
	steps, i = slices.Delete(steps, first, kept), i-(kept-first)
	for eras(steps) > maxEras || len(steps) > maxSteps {
		if last := len(steps) - 1; first == 0 { // all others are ahead: they count in any case
			steps[last-1].Count += steps[last].Count
			steps[last-1].Sum = steps[last-1].Sum.Add(steps[last].Sum)
			steps = steps[:last]
			continue
		}
		steps, i, first = slices.Delete(steps, 0, 1), i-1, first-1
	}
	return steps, i
}

func eras(steps []Step) int {
	n := 1
	for i := 1; i < len(steps); i++ {
		if steps[i].At-steps[i-1].At > Steps {
			n++
		}
	}
	return n
}

func total(sum, amount Amount, n int64) Amount {
	if n < 0 {
		return sum.Sub(amount)
	}
	return sum.Add(amount)
}
