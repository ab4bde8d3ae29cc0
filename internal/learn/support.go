package learn

// How many approvals a generalisation needs. Each counts once a minute of a person, so that yes upon yes is
// one decision, and a model that repeats a harmless call with growing arguments gains nothing by its pace.
const (
	// exactApprovals of the same call in one session are a rule; where they are of two sessions or days, two
	// are: what was approved once may have been about that one time.
	exactApprovals = 3
	// wideApprovals, of wideValues different values, in wideOccasions sessions or days permit values that
	// nobody has seen: three points are the least that show a kind and not a pair, and one session is one
	// task, in which a model, or a text that it has read, chooses all values.
	wideApprovals = 3
	wideValues    = 3
	wideOccasions = 2
	// fewApprovals in fewOccasions sessions or days permit them where only two values were seen. Tools that
	// only look need wideApprovals for that.
	fewApprovals = 5
	fewOccasions = 3
	fewValues    = 2
	// grantUses of one grant, after the question at which it was given, show that the person needs it again.
	grantUses = 2
)

// support counts approvals.
type support struct {
	approvals      int // by minutes
	calls          int
	sessions, days map[string]bool
	// grants has the different calls that each grant approved, uses their number.
	grants map[string]map[string]bool
	uses   map[string]int
}

func supportOf(units []unit) support {
	s := support{sessions: map[string]bool{}, days: map[string]bool{}, grants: map[string]map[string]bool{}, uses: map[string]int{}}
	for i := range units {
		e := units[i].of
		s.calls++
		s.approvals += e.weight
		if e.weight > 0 {
			s.sessions[e.session()], s.days[e.day()] = true, true
		}
		if e.grant != "" {
			if s.grants[e.grant] == nil {
				s.grants[e.grant] = map[string]bool{}
			}
			s.grants[e.grant][string(units[i].args)] = true
			s.uses[e.grant]++
		}
	}
	return s
}

func (s support) occasions() int { return max(len(s.sessions), len(s.days)) }

// exact reports whether the approvals are enough for the calls as they are.
func (s support) exact() bool {
	for _, n := range s.uses {
		if n >= grantUses {
			return true
		}
	}
	return s.approvals >= exactApprovals || s.approvals >= 2 && s.occasions() >= 2
}

// wide reports whether they are enough for values that nobody has seen; values is how many different ones
// there are. Calls of one grant are, with the one at which it was given: the person named the values that may
// vary, for more than one call.
func (s support) wide(values int) bool {
	for grant, calls := range s.grants {
		if len(calls) >= grantUses && s.calls-s.uses[grant] <= 1 && values >= wideValues {
			return true
		}
	}
	return s.approvals >= wideApprovals && values >= wideValues && s.occasions() >= wideOccasions ||
		s.approvals >= fewApprovals && values >= fewValues && s.occasions() >= fewOccasions
}

// looking reports whether they are enough for values that nobody has seen of a tool that only looks.
func (s support) looking(values int) bool {
	return s.wide(values) || s.approvals >= wideApprovals && values >= fewValues && s.occasions() >= wideOccasions
}
