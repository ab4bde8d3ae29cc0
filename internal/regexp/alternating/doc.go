// Package alternating runs alternating automata over UTF-8 text: automata whose
// threads may require that the rest of the text is, or is not, in the language of another
// automaton. Regular expressions with lookaround are such automata, and so is every
// combination of languages by and, or and not.
//
//	b := alternating.NewBuilder()
//	end := b.Match()                        // the end of a member
//	r := b.Char(automaton.Single('r'), nil, b.Char(automaton.Single('m'), nil, b.Body()))
//	b.Member(b.Ahead(true, r, end))         // (?!rm)
//	table := b.Program().Table(alternating.Limits{})
//	s := table.Start()
//	table.Feed(&s, []byte("rmdir"))         // 2, true: decided after "rm"
//	table.Fate(&s, 0)                       // automaton.Rejects
//
// How it works. A state of the text so far is a set of threads. A thread is a place
// in the program and the obligations it met on the way: states of the automata that
// were started by lookaheads, each to be accepted or not. Obligations advance with
// the text as threads do, and are themselves sets of threads, so equal ones are one.
// A lookbehind is an automaton that runs along from the start of the text, one for
// each; its answer at a position is known there. States are made when they are first
// seen and kept in a table with a row for each and an entry for each kind of byte.
//
// Guarantees:
//
//   - One step costs at most time in the size of the program and of the state. A
//     text whose states grow too large, which takes nested or repeated lookaheads,
//     is kept and judged when it is complete, in two passes (direct.go).
//   - A table is bounded. When it is full it is discarded and rebuilt.
//   - Where a program has few states all are made at once. Then the fate of a member
//     is known after the first code point that determines it; otherwise at the
//     latest when all its threads have ended or one has matched.
//   - Results do not depend on how the text is cut, on other texts, or on the states
//     that the table has made already.
package alternating
