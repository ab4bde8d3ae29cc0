package naive

import (
	"strings"

	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
)

// When is what a rule or guard asks of who calls and of the session (K0c, K60). It is
// known before the first byte; a rule whose When does not hold is as if it were not
// there.
type When struct {
	Agent  string   // the agent's name or PREFIX*, "" for any
	Groups []string // one of these groups, a name or PREFIX*; nil asks nothing
	Values []string // the session's data has one of these strings at "/v"; nil asks nothing
	Says   *naiveflow.Says
	Effect *bool
}

// holds says whether the rule is in force. What nobody knows of the session is on the
// strict side: it holds for a rule that restricts, and not for one that permits.
func (p *Policy) holds(r Rule) bool {
	w := r.When
	if w == nil {
		return true
	}
	permits := r.Mode == "unattended"
	if w.Agent != "" && (p.Agent == "" && permits || !fitsName(w.Agent, p.Agent)) {
		return false
	}
	switch {
	case w.Groups != nil && !p.inGroup(w.Groups, permits),
		w.Effect != nil && *w.Effect != p.Effect, w.Says != nil && (p.Texts == nil || !p.Texts.Said(w.Says)):
		return false
	case w.Values == nil:
		return true
	}
	if p.Data == nil || p.Data.Kind != Object {
		return !permits
	}
	var v *Node
	for _, m := range p.Data.Members {
		if m.Key == "v" {
			v = m.Value
		}
	}
	switch {
	case v == nil, v.Kind == Null:
		return !permits
	case v.Kind != Array:
		return w.fits(v)
	}
	some, all := false, len(v.Elems) > 0
	for _, e := range v.Elems {
		some, all = some || w.fits(e), all && w.fits(e)
	}
	if permits {
		return all
	}
	return some
}

// inGroup says whether the caller is in one of some groups.
func (p *Policy) inGroup(wanted []string, permits bool) bool {
	if p.Groups == nil {
		return !permits
	}
	for _, w := range wanted {
		for _, g := range p.Groups {
			if fitsName(w, g) {
				return true
			}
		}
	}
	return false
}

// fitsName says whether a name is wanted, a name or PREFIX*.
func fitsName(wanted, name string) bool {
	prefix, open := strings.CutSuffix(wanted, "*")
	return name == wanted || open && strings.HasPrefix(name, prefix) && !strings.Contains(name[len(prefix):], "/")
}

// present returns the rules of a list; those whose When does not hold only keep their
// place.
func (p *Policy) present(rules []Rule) []Rule {
	some := append([]Rule(nil), rules...)
	for i, r := range rules {
		if !p.holds(r) {
			some[i] = Rule{Mode: r.Mode, absent: true}
		}
	}
	return some
}

func (w *When) fits(v *Node) bool {
	for _, text := range w.Values {
		if v.Kind == String && v.Text == text {
			return true
		}
	}
	return false
}
