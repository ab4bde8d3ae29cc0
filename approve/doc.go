// Package approve keeps questions until they are answered. It is the approver of every program that
// does not ask a person at its own terminal.
//
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{hook}})
//	g, err := gate.New(program, gate.WithApprover(queue))
//	...
//	entries, err := queue.List(ctx, approve.Filter{State: approve.Waiting})
//	entry, err := queue.Answer(ctx, entries[0].ID, approve.Reply{Kind: approve.Yes, By: "anna"})
//
// An [Entry] is one question. It is bound to the hash of everything that would run (H1), is
// answered once and used once, and expires. It is in the [Store], so it survives a restart: if the
// call no longer waits when the answer arrives, the answer is kept, and the identical call,
// proposed again, runs without another question (S5). Several processes can share a store; an
// answer given in one reaches a call that waits in another.
//
// A [Grant] answers questions in advance: for one rule or floor, one tool and the targets of one
// call, for a limited time, until it is revoked (S34).
//
// Guarantees: of two concurrent answers one is accepted, and a no that arrives before the call is
// released is always accepted (H16). An entry never becomes weaker: a store that fails, an unknown
// id, or an answer to another call leaves the call denied.
package approve
