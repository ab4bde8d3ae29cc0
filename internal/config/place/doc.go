// Package place locates the state of a gate - sessions, approvals, records - and decides how
// long it is kept: as the tables [store] and [audit] and the command line configure it.
//
//	s, err := place.Of(program.Settings().Tables, set, place.Flags{})
//	...
//	store, err := s.Open(ctx)
//
// By default the state is one file in the user's state directory. The package knows paths, and
// does not interpret the state.
package place
