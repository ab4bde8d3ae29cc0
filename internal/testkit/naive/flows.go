package naive

// Flow is a session policy about what was read before.
type Flow struct {
	Sources, Tools []string // after
	Before         bool     // it covers the tool
	Effects        bool     // it covers every tool with an effect
	Unless         []Cond
	Where          []Cond // it objects only to calls that fit
	Mode           string
	UntilUser      bool
}

// flows adds the session policies that cover the tool and object.
func (c *call) flows() {
	p := c.policy
	for _, f := range p.Flows {
		if !f.Before && !(f.Effects && p.Effect) || p.Texts != nil && !p.Texts.Read(f.Sources, f.Tools, f.UntilUser) {
			continue
		}
		l := &list{layer: "session", otherwise: f.Mode}
		if len(f.Unless) > 0 {
			l.rules = append(l.rules, Rule{All: f.Unless, Mode: "unattended"})
		}
		if len(f.Where) > 0 {
			l.rules, l.otherwise = append(l.rules, Rule{All: f.Where, Mode: f.Mode}), "unattended"
		}
		c.list(l, p.Layers[0].Schema)
	}
}

// doubtful gives a verdict the code of texts that are not known, if it follows from them: the rule
// that decided holds because of them, or an earlier permit fails.
func (l *list) doubtful(v *Verdict, rules []int, t int) {
	if v.Mode == "unattended" || v.Layer != l.layer || len(l.doubts) < len(l.rules) {
		return
	}
	if r := rules[0]; r >= 0 && l.at[r] <= t && l.holds[r] && l.doubts[r] != "" {
		v.Code = l.doubts[r]
		return
	}
	for r := range l.rules {
		if r == rules[0] {
			return
		}
		if !l.holds[r] && l.at[r] <= t && l.rules[r].Mode == "unattended" && l.doubts[r] != "" {
			v.Code = l.doubts[r]
			return
		}
	}
}
