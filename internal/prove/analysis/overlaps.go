package analysis

import "slices"

// overlaps finds, among the intervals of many rules, those that meet an interval. Runs of
// equal length are merged, so that few are searched and each interval is sorted a few times
// only.
type overlaps struct{ runs []run }

// run is a list of intervals in the order of their low ends.
type run struct {
	intervals []ownedInterval
	high      []Cut // the highest end of the subtree whose root is at the same index
}

// ownedInterval is an interval and the rule that has it.
type ownedInterval struct {
	Interval
	rule int32
}

func (o *overlaps) add(rule int32, in Interval) {
	last := run{intervals: []ownedInterval{{in, rule}}}
	for n := len(o.runs); n > 0 && len(o.runs[n-1].intervals) <= len(last.intervals); n-- {
		last.intervals = slices.Concat(o.runs[n-1].intervals, last.intervals)
		o.runs = o.runs[:n-1]
	}
	slices.SortStableFunc(last.intervals, func(a, b ownedInterval) int { return a.Low.Cmp(b.Low) })
	last.high = make([]Cut, len(last.intervals))
	last.raise(0, len(last.intervals))
	o.runs = append(o.runs, last)
}

// raise computes the highest ends of a subtree and returns that of its root.
func (r *run) raise(from, to int) Cut {
	if from >= to {
		return BelowAll
	}
	root := (from + to) / 2
	high := r.intervals[root].High
	for _, below := range [2]Cut{r.raise(from, root), r.raise(root+1, to)} {
		if below.Cmp(high) > 0 {
			high = below
		}
	}
	r.high[root] = high
	return high
}

// meeting calls yield with the rule of every interval that meets in, until yield returns
// false. The order is that of no rule.
func (o *overlaps) meeting(in Interval, yield func(rule int32) bool) {
	for i := range o.runs {
		if !o.runs[i].meeting(0, len(o.runs[i].intervals), in, yield) {
			return
		}
	}
}

func (r *run) meeting(from, to int, in Interval, yield func(rule int32) bool) bool {
	for from < to {
		root := (from + to) / 2
		if r.high[root].Cmp(in.Low) <= 0 {
			return true
		}
		if !r.meeting(from, root, in, yield) {
			return false
		}
		at := &r.intervals[root]
		if at.Low.Cmp(in.High) >= 0 {
			return true
		}
		if at.High.Cmp(in.Low) > 0 && !yield(at.rule) {
			return false
		}
		from = root + 1
	}
	return true
}
