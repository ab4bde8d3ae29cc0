// Package policy compiles, checks and compares policy files.
//
//	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: text, Trusted: true}}, policy.Options{})
//	if program == nil {
//		return found.Err()
//	}
//	g, err := gate.New(program, gate.WithRecorder(records))
//
// A [Program] is a gate.Policy: the gate asks it about every call. It can also be asked
// directly, while the arguments of a call are still arriving:
//
//	e := program.RulesFor(stopgate.Call{Tool: "write_file"}, gate.Circumstances{}).Evaluate(nil)
//	for chunk := range chunks {
//		if v := e.Feed(chunk); v.Terminal() {
//			return v // no later byte changes it
//		}
//	}
//	return e.Close(stopgate.Ended)
//
// The package promises:
//
//   - All errors of all files are found in one run. A program exists if and only if no
//     diagnostic is an error.
//   - A rule that is reported as unreachable is proved to be: no arguments that fit the
//     schema reach it.
//   - Compile, Check and Diff do no I/O unless [Options.FollowLinks] is set.
package policy
