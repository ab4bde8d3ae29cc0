// Package place says where a gate keeps what it must not forget - sessions, approvals,
// records - and for how long: what the tables [store] and [audit] and the command line
// say.
//
//	s, err := place.Of(program.Settings().Tables, set, place.Flags{})
//	...
//	store, err := s.Open(ctx)
//
// Without a word of anybody it is one file in the user's state directory. It knows
// places, and nothing of what is kept there.
package place
