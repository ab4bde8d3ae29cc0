package session

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
)

// The methods here change cells that [Entry.change] returned, which own their lists.

func (c *Cell) permit(p Permit) { c.Permits = push(c.Permits, &p, maxPermits) }

// push appends an item to a list of at most most items and drops the oldest.
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

// bound returns the number of calls in flight that a cell lists: all that a limit may
// count, or a few where it only matters that a call is under way.
func bound(k *Key) int {
	if k.Space == SpaceLimit {
		return MaxOpen
	}
	return maxNamed
}

// open adds a call in flight. The oldest is dropped if the list is full.
func (c *Cell) open(o *Open, most int) { c.Open = push(c.Open, o, most) }

func (c *Cell) close(id stopgate.ProposalID) {
	if at := slices.IndexFunc(c.Open, func(o Open) bool { return o.Proposal == id }); at >= 0 {
		c.Open = slices.Delete(c.Open, at, at+1)
	}
	if len(c.Open) == 0 {
		c.Open = nil
	}
}

// addPast adds a call that has ended, in the order of release. The oldest is dropped if the
// list is full.
func (c *Cell) addPast(o Open) {
	at, _ := slices.BinarySearchFunc(c.Past, o.Seq, func(p Open, seq uint64) int { return cmp.Compare(p.Seq, seq) })
	c.Past = newest(slices.Insert(c.Past, at, o), maxPast)
}

// addRefund adds a refund. The oldest is dropped if the list is full.
func (c *Cell) addRefund(b Refund) {
	if len(c.Refunds) >= maxRefunds {
		c.Lost = c.Refunds[0].Seq
	}
	c.Refunds = push(c.Refunds, &b, maxRefunds)
}

// Without returns a cell of SpaceCallID without a released call, for a store that deletes
// the call. It returns c itself if c does not list the call.
func (c *Cell) Without(released *Fact) *Cell {
	if releasedBefore(released, c.Open) && releasedBefore(released, c.Past) {
		return c
	}
	id := released.Proposal
	named := func(o Open) bool { return o.Proposal == id }
	if !slices.ContainsFunc(c.Open, named) && !slices.ContainsFunc(c.Past, named) {
		return c
	}
	without := c.copy()
	without.close(id)
	if without.Past = slices.DeleteFunc(without.Past, named); len(without.Past) == 0 {
		without.Past = nil
	}
	return without
}

// releasedBefore reports whether a call was released before all calls of a list.
func releasedBefore(released *Fact, list []Open) bool {
	return len(list) == 0 || released.Seq < list[0].Seq
}

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
		if n < 0 { // the call left the window before it was given back
			return
		}
		steps = slices.Insert(steps, i, Step{At: step})
		steps, i = evictSteps(steps, i)
	}
	steps[i].Count = max(steps[i].Count+n, 0)
	steps[i].Sum = total(steps[i].Sum, m.Amount, n)
	c.Steps = steps
}

// Bounds of the eras that a cell keeps. An era is a run of steps without a gap longer than
// the window. A gap comes from a long pause or from a clock that was set.
const (
	maxEras  = 3
	maxSteps = maxEras * (Steps + 1)
)

// evictSteps drops the steps that the step at i makes too old, and returns its new index.
// Only steps of the same era are dropped: a clock that was set forward and back again finds
// the counts from before, next to those that were counted ahead of it (FM13).
func evictSteps(steps []Step, i int) ([]Step, int) {
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
		if last := len(steps) - 1; first == 0 { // all other steps are later and count in any case
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
