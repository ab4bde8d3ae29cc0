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
	// fewApprovals in fewOccasions sessions or days permit them where only two values were seen.
	fewApprovals = 5
	fewOccasions = 3
)

// support counts approvals.
type support struct {
	approvals      int // by minutes
	calls          int
	sessions, days map[string]bool
}

func supportOf(units []unit) support {
	s := support{sessions: map[string]bool{}, days: map[string]bool{}}
	for i := range units {
		e := units[i].of
		s.calls++
		s.approvals += e.weight
		if e.weight > 0 {
			s.sessions[e.session()], s.days[e.day()] = true, true
		}
	}
	return s
}

func (s support) occasions() int { return max(len(s.sessions), len(s.days)) }

// exact reports whether the approvals are enough for the calls as they are.
func (s support) exact() bool {
	return s.approvals >= exactApprovals || s.approvals >= 2 && s.occasions() >= 2
}

// wide reports whether they are enough for values that nobody has seen; values is how many different ones
// there are.
func (s support) wide(values int) bool {
	return s.approvals >= wideApprovals && values >= wideValues && s.occasions() >= wideOccasions ||
		s.approvals >= fewApprovals && values >= 2 && s.occasions() >= fewOccasions
}
