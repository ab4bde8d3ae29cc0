package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// SessionChange is one field of a session policy that changes, or a whole policy.
type SessionChange struct {
	Policy   string // its name, or its type and place
	Field    string // "" if the policy is new or gone
	Old, New string // as they are written; "" for none
	// Direction is the effect of the change on calls; "" if it is not known.
	Direction Direction
}

// String describes the change in words.
func (s SessionChange) String() string {
	effect := "whether that is stricter or looser is not decided"
	if s.Direction != "" {
		effect = string(s.Direction)
	}
	switch {
	case s.Field != "":
		return fmt.Sprintf("session policy %s: %s %s -> %s: %s", s.Policy, s.Field, or(s.Old, "none"), or(s.New, "none"), effect)
	case s.Old == "":
		return fmt.Sprintf("session policy %s: new: %s", s.Policy, effect)
	}
	return fmt.Sprintf("session policy %s: gone: %s", s.Policy, effect)
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// sessionField is a field of a session policy. of returns its value in words; compare the
// direction of a change, with all other fields as they are.
type sessionField struct {
	name    string
	of      func(*syntax.SessionPolicy) string
	compare func(old, new *syntax.SessionPolicy) Direction
}

// sessionFields are the fields that affect decisions, so without the reason.
var sessionFields = []sessionField{
	{"enabled", func(s *syntax.SessionPolicy) string { return fmt.Sprint(!s.Off) }, loosens(func(s *syntax.SessionPolicy) bool { return s.Off })},
	{"when", func(s *syntax.SessionPolicy) string { return strings.Join(conditionTexts(s), ", ") }, nil},
	{"mode", func(s *syntax.SessionPolicy) string {
		if s.Asks {
			return "ask"
		}
		return "deny"
	}, loosens(func(s *syntax.SessionPolicy) bool { return s.Asks })},
	{"key", func(s *syntax.SessionPolicy) string { return fmt.Sprint(s.Key) }, nil},
	{"key_type", keyType, nil},
	{"on_missing_key", func(s *syntax.SessionPolicy) string {
		if s.AllowNoKey {
			return "allow"
		}
		return "deny"
	}, loosens(func(s *syntax.SessionPolicy) bool { return s.AllowNoKey })},
	{"within", func(s *syntax.SessionPolicy) string { return duration(s.Within) }, comparedWithin},
	{"invalidated_by", joined(func(s *syntax.SessionPolicy) []string { return s.InvalidatedBy }), grows(func(s *syntax.SessionPolicy) []string { return s.InvalidatedBy }, Tightened)},
	{"require_observed", func(s *syntax.SessionPolicy) string { return fmt.Sprint(s.Observed) }, loosens(func(s *syntax.SessionPolicy) bool { return !s.Observed })},
	{"accept_unknown", func(s *syntax.SessionPolicy) string { return fmt.Sprint(s.AcceptUnknown) }, loosens(func(s *syntax.SessionPolicy) bool { return s.AcceptUnknown })},
	{"before", joined(func(s *syntax.SessionPolicy) []string { return s.Before }), grows(func(s *syntax.SessionPolicy) []string { return s.Before }, Tightened)},
	{"require", joined(func(s *syntax.SessionPolicy) []string { return s.Requires }), comparedRequires},
	{"per", func(s *syntax.SessionPolicy) string { return or(s.Per, "session") }, comparedPer},
	{"require_approval", joined(func(s *syntax.SessionPolicy) []string { return s.Approvals }), nil},
	{"require one or all", func(s *syntax.SessionPolicy) string {
		if s.Any {
			return "one"
		}
		return "all"
	}, loosens(func(s *syntax.SessionPolicy) bool { return s.Any })},
	{"read_tools", joined(func(s *syntax.SessionPolicy) []string { return s.ReadTools }), grows(func(s *syntax.SessionPolicy) []string { return s.ReadTools }, Loosened)},
	{"write_tools", joined(func(s *syntax.SessionPolicy) []string { return s.WriteTools }), nil},
	{"content_hash", func(s *syntax.SessionPolicy) string { return s.ContentHash.String() }, nil},
	{"tools", joined(func(s *syntax.SessionPolicy) []string { return s.Tools }), grows(func(s *syntax.SessionPolicy) []string { return s.Tools }, Tightened)},
	{"max_calls", func(s *syntax.SessionPolicy) string { return limitText(s.MaxCalls) }, falls(func(s *syntax.SessionPolicy) int64 { return limitOf(s.MaxCalls) })},
	{"max_in_flight", func(s *syntax.SessionPolicy) string { return limitText(s.MaxInFlight) }, falls(func(s *syntax.SessionPolicy) int64 { return limitOf(s.MaxInFlight) })},
	{"in_flight_ttl", func(s *syntax.SessionPolicy) string { return duration(s.InFlightTTL) }, nil},
	{"sum", func(s *syntax.SessionPolicy) string { return s.Sum.String() }, nil},
	{"max_sum", func(s *syntax.SessionPolicy) string { return s.MaxSum }, comparedSums},
	{"scope", func(s *syntax.SessionPolicy) string {
		if s.PerSession {
			return "session"
		}
		return ""
	}, nil},
	{"failures", func(s *syntax.SessionPolicy) string {
		if s.CountFailures {
			return "count"
		}
		return ""
	}, loosens(func(s *syntax.SessionPolicy) bool { return !s.CountFailures })},
	{"after", joined(func(s *syntax.SessionPolicy) []string { return s.After }), grows(func(s *syntax.SessionPolicy) []string { return s.After }, Tightened)},
	{"before effects", func(s *syntax.SessionPolicy) string { return fmt.Sprint(s.Effects) }, loosens(func(s *syntax.SessionPolicy) bool { return !s.Effects })},
	{"unless", joined((*syntax.SessionPolicy).UnlessTexts), comparedUnless},
	{"where", joined((*syntax.SessionPolicy).WhereTexts), comparedWhere},
	{"until", func(s *syntax.SessionPolicy) string {
		if s.UntilUser {
			return "user"
		}
		return ""
	}, loosens(func(s *syntax.SessionPolicy) bool { return s.UntilUser })},
}

// comparedUnless compares the conditions under which a policy has no objection: more of them are
// stricter, but one is looser than none.
func comparedUnless(old, new *syntax.SessionPolicy) Direction {
	switch {
	case len(old.Unless) == 0:
		return Loosened
	case len(new.Unless) == 0:
		return Tightened
	}
	return grows((*syntax.SessionPolicy).UnlessTexts, Tightened)(old, new)
}

// comparedWhere compares the conditions under which a policy objects: more of them are looser, and
// one is looser than none.
func comparedWhere(old, new *syntax.SessionPolicy) Direction {
	switch {
	case len(old.Where) == 0:
		return Loosened
	case len(new.Where) == 0:
		return Tightened
	}
	return grows((*syntax.SessionPolicy).WhereTexts, Loosened)(old, new)
}

// sessions compares the session policies of two files: an added policy makes calls stricter, a
// removed one makes them looser.
func (c *comparer) sessions(old, new []*syntax.SessionPolicy) {
	add := func(change SessionChange) {
		if change.Direction == "" {
			c.out.Complete = false
		}
		c.out.Sessions = append(c.out.Sessions, change)
	}
	called := [2][]string{sessionNames(old), sessionNames(new)}
	for i, s := range old {
		at := slices.Index(called[1], called[0][i])
		if at < 0 {
			if !s.Off {
				add(SessionChange{Policy: called[0][i], Old: s.Type, Direction: Loosened})
			}
			continue
		}
		for _, f := range sessionFields {
			was, is := f.of(s), f.of(new[at])
			if was == is {
				continue
			}
			change := SessionChange{Policy: called[0][i], Field: f.name, Old: was, New: is}
			if f.compare != nil {
				change.Direction = f.compare(s, new[at])
			}
			add(change)
		}
	}
	for i, s := range new {
		if !s.Off && !slices.Contains(called[0], called[1][i]) {
			add(SessionChange{Policy: called[1][i], New: s.Type, Direction: Tightened})
		}
	}
}

// sessionNames returns a unique key for each policy of a file: its type and name, or its
// position among those of its type if it has no name.
func sessionNames(list []*syntax.SessionPolicy) []string {
	out := make([]string, len(list))
	seen := make(map[string]int)
	for i, s := range list {
		name := strings.TrimSpace(s.Type + " " + s.Name)
		if seen[name]++; s.Name == "" || seen[name] > 1 {
			name = fmt.Sprintf("%s %d", name, seen[name])
		}
		out[i] = name
	}
	return out
}

// joined writes a list of names.
func joined(of func(*syntax.SessionPolicy) []string) func(*syntax.SessionPolicy) string {
	return func(s *syntax.SessionPolicy) string { return strings.Join(of(s), ", ") }
}

// loosens compares a switch that makes calls looser.
func loosens(on func(*syntax.SessionPolicy) bool) func(old, new *syntax.SessionPolicy) Direction {
	return func(_, new *syntax.SessionPolicy) Direction {
		if on(new) {
			return Loosened
		}
		return Tightened
	}
}

// grows compares lists of names, of which more have a direction.
func grows(of func(*syntax.SessionPolicy) []string, more Direction) func(old, new *syntax.SessionPolicy) Direction {
	return func(old, new *syntax.SessionPolicy) Direction {
		was, is := of(old), of(new)
		has := func(all, some []string) bool {
			return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
		}
		switch {
		case has(was, is) == has(is, was):
			return ""
		case has(is, was) == (more == Tightened):
			return Tightened
		}
		return Loosened
	}
}

// comparedRequires compares prerequisites: with "all", more names are stricter.
func comparedRequires(old, new *syntax.SessionPolicy) Direction {
	more := Tightened
	if new.Any {
		more = Loosened
	}
	if old.Any != new.Any {
		return ""
	}
	return grows(func(s *syntax.SessionPolicy) []string { return s.Requires }, more)(old, new)
}

// comparedPer compares whose successes count: the wider, the looser.
func comparedPer(old, new *syntax.SessionPolicy) Direction {
	width := map[string]int{"": 0, "project": 1, "principal": 2}
	if width[new.Per] > width[old.Per] {
		return Loosened
	}
	return Tightened
}

// falls compares limits, of which a lower one is stricter.
func falls(of func(*syntax.SessionPolicy) int64) func(old, new *syntax.SessionPolicy) Direction {
	return func(old, new *syntax.SessionPolicy) Direction {
		if of(new) < of(old) {
			return Tightened
		}
		return Loosened
	}
}

// comparedWithin compares periods: a longer one makes a limit stricter, because it counts more
// calls, and a requirement looser, because its prerequisite may be older.
func comparedWithin(old, new *syntax.SessionPolicy) Direction {
	of := func(s *syntax.SessionPolicy) int64 {
		if s.Within == 0 {
			return math.MaxInt64
		}
		return s.Within
	}
	if (of(new) < of(old)) == (new.Type == syntax.SessionLimit) {
		return Loosened
	}
	return Tightened
}

// comparedSums compares limits of sums.
func comparedSums(old, new *syntax.SessionPolicy) Direction {
	was, ok := jsonstream.ParseDecimal([]byte(old.MaxSum))
	is, also := jsonstream.ParseDecimal([]byte(new.MaxSum))
	switch {
	case ok != nil && also != nil:
		return ""
	case ok != nil || also == nil && is.Cmp(was) < 0:
		return Tightened
	}
	return Loosened
}

func limitOf(n *int64) int64 {
	if n == nil {
		return math.MaxInt64
	}
	return *n
}

func limitText(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func duration(n int64) string {
	if n == 0 {
		return ""
	}
	return (time.Duration(n) * time.Millisecond).String()
}

func keyType(s *syntax.SessionPolicy) string {
	switch {
	case s.KeyIsPath:
		return "path"
	case s.KeyIsValue:
		return "value"
	}
	return ""
}

func conditionTexts(s *syntax.SessionPolicy) (list []string) {
	for i := range s.When {
		k := &s.When[i]
		text := k.Pointer.String() + " " + k.Spec.Kind.String()
		for _, lit := range k.Spec.Values {
			text += " " + lit.JSON
		}
		list = append(list, text)
	}
	for i := range s.Callers {
		list = append(list, s.Callers[i].Text())
	}
	return list
}
