// Package playground is the decision core behind the playground page of the documentation: it
// compiles a policy and shows how the verdict on a call moves while its arguments arrive, byte by
// byte.
//
//	policy, report := playground.Compile(text)
//	trace, err := policy.Trace(playground.Call{Tool: "write_file", Args: args})
//	moment, err := policy.At(call, 17, false)
//
// It has no rules of its own: the verdicts are those of [gate] with an [internal/policy] program and
// sessions in memory, decided as the command decide does. It reads no file, no clock but that of the
// gate, and opens no connection, so that it runs in a browser. All input is hostile: a page that a
// link opened passes it on. Its size is limited, and errors are values.
package playground
