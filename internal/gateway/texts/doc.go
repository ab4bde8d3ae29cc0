// Package texts reports the texts of LLM conversations to the gate, each of them once.
//
//	t := tracker.Begin(texts.Request{Owner: owner, Named: true, List: list, Complete: true})
//	go t.Add(ctx)
//	...
//	conversation := t.Wait() // before a call of the response opens
//	t.Result(data, opaque)   // of a tool of the provider, in the response
//	t.End(ctx, "resp_1")     // the client can continue the response by this id
//
// A request repeats the whole conversation. The tracker recognises the part that the gate has by a
// rolling hash, so that a turn costs its new texts only. Texts of a history that the client has
// edited are all reported again; the gate has them once.
//
// A named session has one conversation. In a session that was guessed, each branch of a history has
// a conversation of its own, so that no branch has the texts of another: a request continues the
// conversation whose newest request or response it begins with, and begins another one otherwise.
package texts
