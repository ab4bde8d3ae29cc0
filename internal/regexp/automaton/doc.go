// Package automaton recognises sets of texts, code point by code point: it builds
// them from literals, sets of code points, choice and repetition, runs them over
// text that is still arriving, and compares them.
//
//	n := automaton.New()
//	n.Accept(n.Loop(n.Text(0, "git "), automaton.Any)) // every text that begins with "git "
//	l := n.Compile()
//	l.Accepts([]byte("git status"))           // true
//	state, read := l.DFA().Feed(l.DFA().First(), []byte("gti"))
//	l.DFA().Fate(state)                       // Rejects, known after 2 bytes
//
// Guarantees:
//
//   - A compiled [Language] is immutable and safe for concurrent use.
//   - A [DFA] knows of every state whether any continuation changes the answer, so
//     a text is decided at the first code point that determines it.
//   - Running a DFA does not allocate and takes time linear in the text. A set whose
//     DFA would be too large is kept as an [NFA], which judges complete texts.
package automaton
