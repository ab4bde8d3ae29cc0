package automaton

// Language is a set of texts, ready to be asked: a DFA, or the NFA where the DFA
// would be too large.
type Language struct {
	dfa *DFA
	nfa *NFA // direct; nil if dfa is not
}

// Compile prepares the set for use. The NFA is not changed afterwards.
func (n *NFA) Compile() *Language {
	d := n.Direct()
	if dfa := d.determinise(); dfa != nil {
		return &Language{dfa: dfa}
	}
	return &Language{nfa: d}
}

// DFA returns the automaton, nil if it would be too large.
func (l *Language) DFA() *DFA { return l.dfa }

// Accepts reports whether a complete text is in the set.
func (l *Language) Accepts(text []byte) bool {
	if l.dfa != nil {
		return l.dfa.accept[l.dfa.After(l.dfa.first, text)]
	}
	return l.nfa.Matches(string(text))
}
