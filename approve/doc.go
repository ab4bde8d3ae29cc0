// Package approve keeps questions until somebody answers them: the queue behind
// every approver that is not a person at this very terminal.
//
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{hook}})
//	g, err := gate.New(program, gate.WithApprover(queue))
//	...
//	entries, err := queue.List(ctx, approve.Filter{State: approve.Waiting})
//	entry, err := queue.Answer(ctx, entries[0].ID, approve.Reply{Kind: approve.Yes, By: "anna"})
//
// An [Entry] is one question. It is bound to the hash of everything that would run
// (H1), answered once, used once, and not after it expires. It lives in the
// [Store], so it survives a restart: an answer that comes when nobody waits any more
// is kept, and the identical call, proposed again, runs without another question
// (S5). Several processes can share a store; an answer given in one
// reaches a call that waits in another.
//
// A [Grant] answers questions before they are asked: it stands for one rule (or
// floor), one tool and the targets of one call, for a time, and can be taken back
// (S34).
//
// What it promises: of two answers that race one counts, and a no that comes before
// the call has left always counts (H16). An entry never becomes weaker: what
// the store cannot read or write, an id that nobody knows, an answer to another call
// leave the call denied.
package approve
