// Package external asks external policies: services that decide about tool calls and texts, over
// HTTP on a Unix socket of this machine or by HTTPS.
//
//	factory := external.New(external.Options{})
//	g, err := gate.New(program, gate.WithExternals(factory.Open))
//
// [Factory.Open] returns the ports of one table [[external]], and [Factory.Events] its event policy
// for the LLM gateway. One client asks for all of them: client.go has the connection and its
// failures, question.go and answer.go the protocol, and there is a file with an adapter for each
// kind of policy.
//
// Guarantees: every failure is an error of the policy, which denies, or for a judge has the mode
// that the table configures: no connection, a socket of another user, a redirect, a status other
// than 200, another content type, an answer of another version, with unknown members, of more than
// 1 MiB, for another question, or after the deadline. A service only tightens, except that a gate
// may permit a tool that no policy file knows. docs/reference/external.md describes the protocol.
package external
