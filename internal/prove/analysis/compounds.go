package analysis

// compounds finds, among the rules of one list that have several conditions, those that may
// match the choices made. Each rule is found by the values of one of its variables, the one
// on which the fewest other rules are found by the same values; a rule whose values no index
// describes is always among those that may match.
type compounds struct {
	variables []Variable
	places    []compoundIndex // by variable
	always    []int32
}

// compoundIndex finds rules by the value of one variable. Rules are added in order.
type compoundIndex struct {
	all       []int32
	tables    [2]compoundTable // as written, and without ASCII case
	keys      map[string][]int32
	keyed     []int32 // those in keys
	points    map[string][]int32
	intervals overlaps
}

// compoundTable finds rules by literals of their texts.
type compoundTable struct {
	exact, below map[string][]int32
	lengths      []bool // which lengths keys of below have
}

func newCompounds(variables []Variable) *compounds {
	return &compounds{variables: variables, places: make([]compoundIndex, len(variables))}
}

// add adds a rule.
func (c *compounds) add(rule int32, r *Rule) {
	var best *Condition
	var bestIntervals []Interval
	least := 0
	for i := range r.Conditions {
		k := &r.Conditions[i]
		if !k.indexable() {
			continue
		}
		intervals := c.intervals(r, k)
		if n := c.places[k.Variable].crowd(k, intervals); best == nil || n < least {
			best, bestIntervals, least = k, intervals, n
		}
	}
	if best == nil {
		c.always = append(c.always, rule)
		return
	}
	c.places[best.Variable].add(rule, best, bestIntervals)
}

// indexable reports a condition whose values an index describes: it holds for no leaf that
// the index does not find.
func (k *Condition) indexable() bool {
	if k.Subject != Leaves || k.Null || k.Set.Every {
		return false
	}
	t := &k.Set.Texts
	return t.literal() || t.Keys != nil || t.Languages != nil && !t.Open && t.Head != ""
}

// intervals returns the numbers for which a condition holds, and all others of the rule that
// look at the same value.
func (c *compounds) intervals(r *Rule, k *Condition) []Interval {
	list := k.Set.Intervals
	if c.variables[k.Variable].Several {
		return list
	}
	for i := range r.Conditions {
		if other := &r.Conditions[i]; other != k && other.Variable == k.Variable && other.indexable() {
			list = intersect(list, other.Set.Intervals)
		}
	}
	return list
}

// crowded is from how many rules on their exact number does not matter.
const crowded = 64

// crowd is how many rules are found by the values of a condition.
func (x *compoundIndex) crowd(k *Condition, intervals []Interval) (n int) {
	t := &k.Set.Texts
	table := &x.tables[t.form()]
	for _, text := range t.Exact {
		n = max(n, len(table.exact[text]))
	}
	for _, text := range t.Below {
		n = max(n, len(table.below[text]))
	}
	switch {
	case t.literal():
	case t.Keys != nil:
		for _, key := range t.Keys {
			n = max(n, len(x.keys[key]))
		}
	default:
		n = max(n, len(table.below[t.Head]))
	}
	for _, in := range intervals {
		met := 0
		if d, ok := in.single(); ok {
			met = len(x.points[d.String()])
		}
		x.intervals.meeting(in, func(int32) bool { met++; return met < crowded })
		n = max(n, met)
	}
	return n
}

func (x *compoundIndex) add(rule int32, k *Condition, intervals []Interval) {
	x.all = append(x.all, rule)
	t := &k.Set.Texts
	table := &x.tables[t.form()]
	if table.exact == nil {
		table.exact, table.below = make(map[string][]int32), make(map[string][]int32)
	}
	for _, text := range t.Exact {
		table.exact[text] = append(table.exact[text], rule)
	}
	for _, text := range t.Below {
		table.begin(text, rule)
	}
	switch {
	case t.literal():
	case t.Keys != nil:
		if x.keys == nil {
			x.keys = make(map[string][]int32)
		}
		for _, key := range t.Keys {
			x.keys[key] = append(x.keys[key], rule)
		}
		x.keyed = append(x.keyed, rule)
	default:
		table.begin(t.Head, rule)
	}
	for _, in := range intervals {
		if d, ok := in.single(); !ok {
			x.intervals.add(rule, in)
		} else {
			if x.points == nil {
				x.points = make(map[string][]int32)
			}
			x.points[d.String()] = append(x.points[d.String()], rule)
		}
	}
}

func (t *compoundTable) begin(text string, rule int32) {
	t.below[text] = append(t.below[text], rule)
	for len(t.lengths) <= len(text) {
		t.lengths = append(t.lengths, false)
	}
	t.lengths[len(text)] = true
}

// first returns the first rule below limit that matches the choices made, by a test of one
// rule.
func (c *compounds) first(choices []Choice, limit int32, matches func(rule int32) bool) int32 {
	best := limit
	try := func(list []int32) {
		for _, rule := range list {
			if rule >= best {
				return
			}
			if matches(rule) {
				best = rule
			}
		}
	}
	try(c.always)
	for i := range c.places {
		if x := &c.places[i]; len(x.all) > 0 {
			x.find(&c.variables[i], &choices[i], try)
		}
	}
	if best == limit {
		return none
	}
	return best
}

// find calls try with lists of rules, among which are all that may match a choice.
func (x *compoundIndex) find(v *Variable, c *Choice, try func([]int32)) {
	switch {
	case c.Absent && v.Default != nil:
		x.findLeaf(v, *v.Default, try)
	case c.Absent, c.Null: // no condition of the index holds for null
	default:
		for _, leaf := range c.Leaves {
			x.findLeaf(v, leaf, try)
		}
	}
}

func (x *compoundIndex) findLeaf(v *Variable, leaf Value, try func([]int32)) {
	switch {
	case leaf.Kind == Text && !v.Domain.odd(leaf):
		x.tables[0].find(leaf.Text, try)
		if len(x.tables[1].exact) > 0 || len(x.tables[1].below) > 0 {
			x.tables[1].find(foldASCII(leaf.Text), try)
		}
		if len(x.keyed) == 0 {
			return
		}
		if v.Domain.Key != nil {
			if key, ok := v.Domain.Key(leaf.Text); ok {
				try(x.keys[key])
				return
			}
		}
		try(x.keyed)
	case leaf.Kind == Number:
		try(x.points[leaf.Number.String()])
		x.intervals.meeting(Point(leaf.Number), func(rule int32) bool {
			try([]int32{rule})
			return true
		})
	default:
		try(x.all)
	}
}

func (t *compoundTable) find(text string, try func([]int32)) {
	try(t.exact[text])
	for n := 0; n <= len(text) && n < len(t.lengths); n++ {
		if t.lengths[n] {
			try(t.below[text[:n]])
		}
	}
}
