package naive

import (
	"fmt"
	"slices"
)

// list is a rule list or a guard, with what is known of every rule and since when.
type list struct {
	layer   string
	file    int
	guard   int
	rules   []Rule
	holds   []bool
	at      []int
	asks    bool // a list without a match asks; a guard abstains
	lowered bool // unattended counts as ask (K35)
	// Where the list is judged command by command (K29): one list for each command, one
	// for a command that may still come, and when none can any more.
	commands  []*list
	follows   *list
	following int
	from      int  // of one command: when it is complete
	suspects  bool // nothing waits for it
	// When a permit is known not to cover the call, and what it answers then.
	lacks     []int
	uncovered string

	otherwise string   // of a session policy: its objection
	doubts    []string // the code of each rule that holds or fails because texts are not known
}

// mode is what a rule of the list answers here, as is known with byte t.
func (l *list) mode(i, t int) string {
	if l.lacks != nil && l.lacks[i] <= t {
		return l.uncovered
	}
	if l.lowered && l.rules[i].Mode == "unattended" {
		return "ask"
	}
	return l.rules[i].Mode
}

// possible walks the list as far as it is known with byte t: the
// modes that may come out of it and the rules they come from.
func (l *list) possible(t int) (modes []string, rules []int) {
	if l.suspects && l.at[0] > t {
		return []string{"unattended"}, []int{-2}
	}
	for i := range l.rules {
		known := l.at[i] <= t
		if known && !l.holds[i] {
			continue
		}
		modes, rules = append(modes, l.mode(i, t)), append(rules, i)
		if known {
			return modes, rules
		}
	}
	if l.asks {
		return append(modes, "ask"), append(rules, -1)
	}
	if l.otherwise != "" {
		return append(modes, l.otherwise), append(rules, -1)
	}
	return append(modes, "unattended"), append(rules, -2) // abstains
}

// outcome says what can come out of the list with byte t: the strictest and the
// weakest mode, and the verdict if they are the same. A guard that abstains has none.
func (l *list) outcome(t int) (low, high string, v *Verdict) {
	if l.follows != nil {
		return l.byCommand(t)
	}
	modes, rules := l.possible(t)
	low, high = "unattended", "deny"
	for _, m := range modes {
		low = stricter(low, m)
		if stricter(high, m) == high {
			high = m
		}
	}
	if low == high && rules[0] != -2 && !(l.otherwise != "" && low == "unattended") { // no objection decides nothing
		decided := l.verdict(low, rules, t)
		v = &decided
	}
	return low, high, v
}

// call is one document judged by one policy.
type call struct {
	policy *Policy
	root   *Node
	lists  []*list
	events []Verdict       // integrity and floors, in byte order
	seen   map[looked]bool // values that some condition looked at, by the schema it sees
	schema *Schema         // of the list that is being filled
	ended  bool            // the last event is that the text ends too early: after its last byte
}

// Trace lists the verdicts that become known while the text arrives, each with
// its byte, and after its normal end the last one.
func (p *Policy) Trace(text string) []Verdict {
	speaks, trusted := false, false
	for _, l := range p.Layers {
		speaks = speaks || l.Speaks
		trusted = trusted || l.Speaks && !l.Untrusted
	}
	if !speaks {
		return []Verdict{{Mode: "deny", Code: "policy_not_configured", Layer: "integrity", Rule: -1}}
	}
	root, fault := Read(text)
	c := &call{policy: p, root: root, seen: map[looked]bool{}}
	if c.root == nil {
		c.root = &Node{Start: Never, End: Never}
	}
	c.flows()
	for i := range p.Layers {
		c.guards(i)
	}
	for i := range p.Layers {
		if l := &p.Layers[i]; l.Speaks {
			c.list(&list{layer: "rules", file: i, rules: l.Rules, asks: true, lowered: l.Untrusted && !trusted}, l.Schema)
		}
		c.floors(i)
	}
	c.ended = fault != nil && fault.Ended
	if fault != nil {
		at := fault.At
		if fault.Ended {
			at = len(text) + 1
		}
		c.event(Verdict{Mode: "deny", Code: fault.Code, Layer: "integrity", At: at})
	}
	return c.trace(len(text))
}

func (c *call) guards(file int) {
	for i, g := range c.policy.Layers[file].Guards {
		c.list(&list{layer: "guard", file: file, guard: i, rules: []Rule{g}}, c.policy.Layers[file].Schema)
	}
	for i, g := range c.policy.Layers[file].Guards {
		c.suspicion(file, i, g)
	}
}

// list finds out about every rule of a list.
func (c *call) list(l *list, s *Schema) {
	c.schema, l.rules = s, c.policy.present(l.rules)
	if l.layer == "rules" {
		c.uncovered(l.file, l)
	}
	c.fill(l, viewOf(s), nil)
	if l.layer == "rules" {
		c.byCommand(l, viewOf(s))
	}
	c.lists = append(c.lists, l)
}

// looked is a value and the schema through which a condition saw it.
type looked struct {
	node   *Node
	schema *Schema
}

func (c *call) looking(n *Node) { c.seen[looked{n, c.schema}] = true }

// fill finds out about the rules of a list, of all commands or of one.
func (c *call) fill(l *list, v view, one *command) {
	for _, r := range l.rules {
		holds, at, doubt := c.rule(r, v, one)
		l.holds, l.at, l.doubts = append(l.holds, holds), append(l.at, at), append(l.doubts, doubt)
	}
}

func (c *call) cond(k *Cond, permissive bool, v view) (holds bool, at int) {
	l := &look{policy: c.policy, cond: k, permissive: permissive, all: permissive, seen: c.looking}
	if k.Match != "" {
		l.all = k.Match == "all"
	}
	if k.On != "" && k.On != "string" && !v.holds(k.On) {
		return false, 0 // the tool has no such parameter
	}
	if k.On == "" {
		return l.result(l.walk(c.root, v, k.Arg))
	}
	holds, at = l.result(l.everywhere(c.root, v))
	for _, n := range l.lost {
		if n.End <= at { // later ones are not looked at
			c.event(Verdict{Mode: "ask", Code: pathNotKnown, Layer: "floor", At: n.End})
		}
	}
	return holds, at
}

func (c *call) event(v Verdict) {
	v.Rule = -1
	if v.At < Never {
		c.events = append(c.events, v)
	}
}

// trace plays the bytes in order.
func (c *call) trace(length int) []Verdict {
	times := []int{0, length}
	for _, e := range c.events {
		times = append(times, e.At)
	}
	for _, l := range c.lists {
		times = append(append(append(times, l.at...), l.following), l.lacks...)
		for _, one := range l.commands {
			times = append(append(times, one.at...), one.from)
		}
		if l.follows != nil {
			times = append(times, l.follows.at...)
		}
	}
	slices.Sort(times)
	slices.SortStableFunc(c.events, func(a, b Verdict) int { return a.At - b.At })
	times = slices.Compact(times)
	if i, _ := slices.BinarySearch(times, length+1); c.ended {
		times = slices.Insert(times[:i], i, length+1) // the end itself
	}
	var trace []Verdict
	last := Verdict{}
	for _, t := range times {
		if t > length && !c.ended {
			break
		}
		now := c.at(t)
		now.Floors = c.floorsUntil(t)
		if now.Mode == "" {
			continue
		}
		now.At = min(t, length)
		if now.Mode == last.Mode {
			now.At = last.At
		}
		if !same(now, last) {
			trace = append(trace, now)
		}
		if last = now; terminal(now.Mode) {
			break
		}
	}
	return trace
}

func same(a, b Verdict) bool {
	named := a.Rule < 0 || a.File == b.File && a.Guard == b.Guard
	return a.Mode == b.Mode && a.Code == b.Code && a.Layer == b.Layer && a.Rule == b.Rule && named && a.Floors == b.Floors
}

// floorsUntil counts the floors that are known with byte t, each code once for a
// byte; what integrity refuses is no floor any more.
func (c *call) floorsUntil(t int) int {
	seen := map[string]bool{}
	for _, e := range c.events {
		if e.Layer == "floor" && e.At <= t {
			seen[fmt.Sprint(e.Code, e.At)] = true
		}
	}
	for _, e := range c.events {
		if e.Layer == "integrity" {
			delete(seen, fmt.Sprint(e.Code, e.At))
		}
	}
	return len(seen)
}

// at is the verdict as known with byte t. Terminal verdicts of earlier bytes have
// been returned before.
func (c *call) at(t int) Verdict {
	floor := "unattended"
	var first, lost *Verdict
	for i, e := range c.events {
		if e.At > t {
			break
		}
		if terminal(e.Mode) && e.At == t && e.Layer == "integrity" {
			return e
		}
		if first == nil && e.Layer == "floor" {
			first = &c.events[i]
		}
		if lost == nil && e.Code == pathNotKnown {
			lost = &c.events[i]
		}
		if e.Layer == "floor" {
			floor = stricter(floor, e.Mode)
		}
	}
	for _, e := range c.events {
		if e.At == t && e.Layer == "floor" && terminal(e.Mode) {
			return e
		}
	}
	strictest, weakest := floor, floor
	var ended *Verdict
	var decided []Verdict
	for _, l := range c.lists {
		low, high, v := l.outcome(t)
		strictest, weakest = stricter(strictest, low), stricter(weakest, high)
		if v == nil {
			continue
		}
		decided = append(decided, *v)
		if terminal(low) && (ended == nil || stricter(low, ended.Mode) != ended.Mode) {
			ended = v
		}
	}
	if ended != nil {
		return *ended
	}
	if strictest != weakest {
		return Verdict{}
	}
	for _, v := range decided {
		if v.Mode != strictest {
			continue
		}
		if v.Layer != "guard" && v.Layer != "session" && v.Mode == "ask" && lost != nil { // what is not known explains more than a rule that asks
			return *lost
		}
		return v
	}
	if lost != nil && strictest == "ask" {
		return *lost
	}
	return *first
}

// verdict names the rule, or the candidates if several may have decided (K9).
func (l *list) verdict(mode string, rules []int, t int) (v Verdict) {
	v = Verdict{Mode: mode, Code: "rule_matched", Layer: l.layer, File: l.file, Guard: l.guard, Rule: -1}
	if mode == "skip" {
		v.Code = "rule_skipped"
	}
	defer l.doubtful(&v, rules, t)
	switch {
	case l.otherwise != "":
		v.Code, v.File = "untrusted_text", 0
	case rules[0] == -1:
		v.Code = "no_rule_matched"
	case l.lacks != nil && l.lacks[rules[0]] <= t && l.uncovered == mode:
		v.Code, v.Layer, v.File = "parameter_not_covered", "floor", 0
	case l.at[rules[0]] <= t:
		v.Rule = rules[0]
	default:
		v.Candidates = rules
	}
	return v
}
