// Package conversation stores the messages of a person, a model and the tools of the terminal
// agent, independent of a provider, as a log of entries that is only appended to.
//
//	err := store.Append(ctx, id, conversation.Entry{Kind: conversation.User, Text: "fix the test"})
//	...
//	entries, err := store.Entries(ctx, id)
//	messages := conversation.Messages(entries) // valid at whatever point the process was killed
//
// Guarantees: an entry is durable before the operation that it announces starts. If the process is
// killed at any point, [Messages] still returns a valid history: every call has exactly one result,
// and a call that may have run is not reported as not run.
package conversation
