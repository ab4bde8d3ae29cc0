// Package conversation keeps what was said between a person, a model and the tools of
// the terminal agent, in a form that belongs to no provider: a log of entries that only
// grows.
//
//	err := store.Append(ctx, id, conversation.Entry{Kind: conversation.User, Text: "fix the test"})
//	...
//	entries, err := store.Entries(ctx, id)
//	messages := conversation.Messages(entries) // whole, whatever the process was doing when it died
//
// What it promises: an entry is durable before what it announces happens, so a process
// that is killed at any point leaves a log that [Messages] makes a legal history of:
// every call has exactly one result, and nobody is told that a call did not run when it
// may have.
package conversation
