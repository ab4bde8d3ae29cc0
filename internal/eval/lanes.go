package eval

import (
	"iter"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/literal"
)

// A list with conditions on several command lines is evaluated once for each of them, as if it were
// the only one, and the strictest of these verdicts is the list's (K29). Otherwise [ask on a, deny
// on b] would ask about the commands a and b together: the first rule matches its command, and the
// second is not reached.
//
// A lane is the results of one command. Commands with the same results share one.
type lanes struct {
	all     []lane
	answers []phase // of all lanes, one after the other
	held    []int32 // the rules of bundles that hold, of all lanes likewise
	current []phase // results of the current command, by condition; waiting: not evaluated
	found   []int32 // the rules of bundles that hold for the current command
	touched bool
	segment segment // the command under way
}

// lane is the evaluation of one list for one command.
type lane struct {
	list  int32
	first int32 // index of its results in lanes.answers
	held  span  // its part of lanes.held, in order
	at    int64 // the byte that completed the command
	path  span
	segment
}

// Lanes that are no command.
const (
	noLane     = -1 // the list is not evaluated command by command, or has no command
	futureLane = -2 // a command that may still come
)

func (n *lanes) reset(p *plan) {
	n.all, n.answers, n.held, n.found = n.all[:0], n.answers[:0], n.held[:0], n.found[:0]
	n.current = resize(n.current, int(p.commands))
	n.touched, n.segment = false, segment{}
}

// answer records the result of a condition for the current command. If one reading fails, the
// condition fails.
func (n *lanes) answer(p *plan, c int32, hit bool) {
	k := &p.conds[c]
	to := &n.current[p.lists[k.list].firstCommand+k.command]
	switch {
	case !hit:
		*to = failed
		n.keep(p, c, nil)
	case *to == waiting:
		*to = holds
	}
	n.touched = true
}

// holding records the rules of a bundle that hold for the current command. If one reading fails, the
// rule fails.
func (s *state) holding(site int32, rules []int32, sole bool) {
	if len(rules) == 0 {
		s.leaf(site, false, sole)
		return
	}
	n, c := &s.lanes, s.plan.sites[site]
	k := &s.plan.conds[c]
	if s.conds[c].phase != waiting {
		return
	}
	switch to := &n.current[s.plan.lists[k.list].firstCommand+k.command]; *to {
	case waiting:
		*to, n.found = holds, append(n.found, rules...)
	case holds:
		n.keep(s.plan, c, rules)
	}
	n.touched = true
}

// keep removes all rules of a bundle but some from those that hold for the current command.
func (n *lanes) keep(p *plan, c int32, rules []int32) {
	n.found = slices.DeleteFunc(n.found, func(r int32) bool { return p.rules[r].first == c && !slices.Contains(rules, r) })
}

// heldIn returns the rules of a list's bundles that hold for the current command. found is in order.
func (n *lanes) heldIn(l *list) []int32 {
	from, _ := slices.BinarySearch(n.found, l.first)
	end, _ := slices.BinarySearch(n.found, l.end)
	return n.found[from:end]
}

// endCommand takes a complete command: it becomes a lane of every list that evaluated it.
// Conditions on other command parameters fail for it.
func (s *state) endCommand() {
	n := &s.lanes
	if !n.touched {
		return
	}
	slices.Sort(n.found)
	for i := range s.plan.lists {
		l := &s.plan.lists[i]
		answers := n.current[l.firstCommand : l.firstCommand+l.commands]
		if !slices.ContainsFunc(answers, func(p phase) bool { return p != waiting }) {
			continue
		}
		for k, p := range answers {
			if p == waiting {
				answers[k] = failed
			}
		}
		if held := n.heldIn(l); !n.known(int32(i), answers, held) {
			from := int32(len(n.held))
			n.held = append(n.held, held...)
			n.all = append(n.all, lane{
				list: int32(i), first: int32(len(n.answers)), held: span{from, int32(len(n.held))}, at: s.at, path: s.spine.mark(), segment: n.segment,
			})
			n.answers = append(n.answers, answers...)
			s.lists[i].dirty, s.dirty = true, true
		}
	}
	clear(n.current)
	n.found, n.touched = n.found[:0], false
}

// known reports whether an earlier command of a list had the same results.
func (n *lanes) known(list int32, answers []phase, held []int32) bool {
	return slices.ContainsFunc(n.all, func(l lane) bool {
		return l.list == list && slices.Equal(n.answers[l.first:][:len(answers)], answers) && slices.Equal(n.held[l.held.start:l.held.end], held)
	})
}

// walkLanes recomputes the possible results of a list that is evaluated command by command.
func (s *state) walkLanes(i int) {
	l, st := &s.plan.lists[i], &s.lists[i]
	st.low, st.high, st.lane = stopgate.Unattended, stopgate.Unattended, noLane
	found := false
	for k := range s.ways(i) {
		o := s.inLane(l, k)
		st.low, st.high = stopgate.Strictest(st.low, o.low), stopgate.Strictest(st.high, o.high)
		found = true
	}
	if s.mayFollow(i) {
		st.lane = futureLane
	}
	if st.lane == futureLane || !found {
		o := s.inLane(l, st.lane)
		if st.low = stopgate.Strictest(st.low, o.low); !found {
			st.high = o.high
		}
	}
	for k := range s.ways(i) { // the first command with the list's verdict is named
		if o := s.inLane(l, k); o.low == o.high && o.low == st.low && o.low == st.high {
			st.lane = k
			break
		}
	}
	o := s.inLane(l, st.lane)
	st.cursor, st.holds = o.cursor, o.holds
	st.abstains = l.guard && st.cursor == l.end || l.session && st.low == stopgate.Unattended && st.high == stopgate.Unattended
}

// outcome is the possible results of a list in one lane.
type outcome struct {
	low, high stopgate.Mode
	cursor    int32 // the first rule that has not failed
	holds     bool  // it holds
}

// inLane evaluates a list in one lane, by the first rules of its bundles.
func (s *state) inLane(l *list, lane int32) (o outcome) {
	if len(s.uncovered) > 0 {
		return s.eachInLane(l, lane)
	}
	open, end := s.bundledIn(l)
	switch {
	case lane == futureLane:
		for _, c := range l.single {
			if b := s.plan.conds[c].bundle; b >= 0 {
				open.Merge(&s.plan.bundles[b].all)
			}
		}
	case lane >= 0:
		if held := s.lanes.all[lane].held; held.start < held.end {
			end = min(end, s.lanes.held[held.start])
		}
	}
	for _, r := range l.own {
		if r >= end {
			break
		}
		switch s.phaseOf(r, lane) {
		case holds:
			end = r
		case waiting:
			open.Add(r, uint8(s.plan.rules[r].mode))
		}
	}
	return s.outcomeOf(l, &open, end)
}

// outcomeOf returns the outcome of a list of which some rules wait, before the first one that holds or
// the end of the list.
func (s *state) outcomeOf(l *list, open *literal.Summary, end int32) (o outcome) {
	last := l.fallback
	if end < l.end {
		last = s.plan.rules[end].mode
	}
	o = outcome{last, last, end, end < l.end}
	if open.First() >= end {
		return o
	}
	o.holds = false
	for mode, r := range open.Of() {
		if m := stopgate.Mode(mode); r < end {
			o.low, o.high, o.cursor = stopgate.Strictest(o.low, m), weakest(o.high, m), min(o.cursor, r)
		}
	}
	return o
}

// eachInLane is inLane rule by rule: some permits do not cover the call.
func (s *state) eachInLane(l *list, lane int32) (o outcome) {
	o.low, o.high = s.possible(l, l.first, lane)
	for o.cursor = l.first; o.cursor < l.end && s.phaseOf(o.cursor, lane) == failed; {
		o.cursor++
	}
	o.holds = o.cursor < l.end && s.phaseOf(o.cursor, lane) == holds
	return o
}

// ways yields the lanes of a list in text order.
func (s *state) ways(i int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for k := range s.lanes.all {
			if s.lanes.all[k].list == int32(i) && !yield(int32(k)) {
				return
			}
		}
	}
}

// mayFollow reports whether the call may have further commands.
func (s *state) mayFollow(i int) bool {
	return slices.ContainsFunc(s.plan.lists[i].single, func(c int32) bool { return s.conds[c].open > 0 })
}

// phaseOf returns the phase of a rule in a lane.
func (s *state) phaseOf(r, lane int32) phase {
	rule := &s.plan.rules[r]
	switch {
	case rule.own < 0 && rule.commands:
		return s.heldBy(r, lane)
	case rule.own < 0:
		return s.bundled(r)
	}
	p := s.rules[rule.own].phase
	if !rule.commands || p == failed {
		return p
	}
	p = holds
	for c := rule.first; c < rule.end; c++ {
		switch s.condIn(c, lane) {
		case failed:
			return failed
		case waiting:
			p = waiting
		}
	}
	return p
}

// heldBy returns the phase of a rule of a bundle in a lane.
func (s *state) heldBy(r, lane int32) phase {
	switch {
	case lane == noLane, s.conds[s.plan.rules[r].first].phase == failed: // the latter without any site
		return failed
	case lane == futureLane:
		return waiting
	}
	held := s.lanes.all[lane].held
	if _, ok := slices.BinarySearch(s.lanes.held[held.start:held.end], r); ok {
		return holds
	}
	return failed
}

// condIn returns the phase of a condition in a lane.
func (s *state) condIn(c, lane int32) phase {
	k := &s.plan.conds[c]
	switch {
	case k.command < 0:
		return s.conds[c].phase
	case lane == futureLane:
		return waiting
	case lane == noLane:
		return failed
	}
	return s.lanes.answers[s.lanes.all[lane].first+k.command]
}
