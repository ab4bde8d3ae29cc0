// Package session decides calls by the history of their session: facts, and policies
// over facts (TPS). It is pure: the state comes in as a value, and new facts go out as
// values. A store keeps them.
//
//	reg := session.NewRegistry()
//	reg.Register(policies.Require("deploy").After("test", "build").Named("ship"))
//	reg.Register(policies.ReadBeforeWrite().Key("/path"))
//	...
//	primary, all := reg.CheckAll(view, call)
//
// The history of a session is a log of [Fact]s that only grows. Checks do not read it:
// every fact also changes a few [Cell]s, which hold the answers that policies need
// ("has test succeeded since the last write", "how much was spent today"), and a
// check loads only the cells of its policies. So a session of a
// hundred thousand calls is checked as fast as a new one (S38).
//
//	state, err := session.Apply(state, fact)   // state is a value; this is the only rule
//	                                           // by which cells change
//
// The same state and call give the same decision. Restoring a snapshot takes back facts
// that permit (a success, an approval), never facts that restrict (a count, a denial,
// an invalidation) (S15). A value that cannot be determined, such as a missing key or a
// path with two readings, denies.
package session
