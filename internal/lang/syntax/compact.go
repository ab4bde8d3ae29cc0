package syntax

// Compact frees what only diagnostics and formatters need: the tree of the text, examples, and where
// the parts of rules are written. Rules keep their own positions. The file is then good for
// evaluation, comparison and explanations, but not for checks.
func (f *File) Compact() {
	rule, condition := new(RuleKeys), new(ConditionKeys)
	for r := range f.Rules() {
		r.RuleKeys, r.Examples, r.parsed = rule, nil, ""
	}
	for k := range f.conditions {
		k.ConditionKeys = condition
	}
	for _, l := range f.Lists {
		l.ValuesAt = nil
	}
	f.Source.Forget()
	for _, p := range f.Packs {
		p.Source.Forget()
	}
}

// Place gives the rules of a file that was built and not parsed the keys that checks read, without
// positions.
func (f *File) Place() {
	rule, condition := new(RuleKeys), new(ConditionKeys)
	for r := range f.Rules() {
		if r.RuleKeys == nil {
			r.RuleKeys = rule
		}
	}
	for k := range f.conditions {
		if k.ConditionKeys == nil {
			k.ConditionKeys = condition
		}
	}
}

// conditions yields the conditions of all rules and session policies.
func (f *File) conditions(yield func(*Condition) bool) {
	each := func(list []Condition) bool {
		for i := range list {
			if !yield(&list[i]) {
				return false
			}
		}
		return true
	}
	for r := range f.Rules() {
		if !each(r.Conditions) {
			return
		}
	}
	for _, s := range f.Sessions {
		if !each(s.Unless) || !each(s.Where) {
			return
		}
	}
}
