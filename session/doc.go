// Package session decides calls by what happened before in their session: facts,
// and policies over facts (TPS). It is pure: the state comes in as a value, new
// facts go out as values, and somebody else keeps them.
//
//	reg := session.NewRegistry()
//	reg.Register(session.Require("deploy").After("test", "build").Named("ship"))
//	reg.Register(session.ReadBeforeWrite().Key("/path"))
//	...
//	primary, all := reg.CheckAll(view, call)
//
// The history of a session is a log of [Fact]s that only grows. Nobody reads it to
// decide: every fact also changes a few [Cell]s, which hold what policies ask for
// ("has test succeeded since the last write", "how much was spent today"), and a
// check loads the handful of cells that its policies name. So a session of a
// hundred thousand calls is checked as fast as a new one (S38).
//
//	state, err := session.Apply(state, fact)   // state is a value; this is the only rule
//	                                           // by which cells change
//
// What it promises: the same state and call give the same decision. A fact that
// permits (a success, an approval) can be taken back by restoring a snapshot; a
// fact that restricts (a count, a denial, an invalidation) never (S15). What cannot
// be known - a key that is missing, a path that can be read in two ways - denies.
package session
