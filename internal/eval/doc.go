// Package eval judges calls by policy files, while their arguments are still arriving.
//
//	policies := eval.New([]*eval.Layer{{File: file, Trusted: true, Env: match.Env{Root: "/srv/app"}}}, stopgate.Deny)
//	e := policies.Bind(stopgate.Call{Tool: "write_file"}).Evaluate()
//	for chunk := range chunks {
//		if v := e.Feed(chunk); v.Terminal() {
//			return v // no later byte changes it
//		}
//	}
//	return e.Close(stopgate.Ended)
//
// # How it works
//
// Bind compiles what the files say about one tool into a plan: lists of rules, their
// conditions, and for each schema that a file sees a graph of shapes, which says at every
// place of the arguments which conditions look there (compile*.go, plan.go). An
// Evaluation walks that graph along the events of one parser (walk.go), feeds texts to the
// tests of conditions while they arrive (text.go), and keeps for every condition whether it
// holds, has failed or still waits (state.go). A list is read again only when one of its
// rules changed; its strictest and its weakest mode that are still possible make the verdict
// (verdict.go). Many rules on one parameter are one bundle, judged by package
// [github.com/stopgate/stopgate/internal/condition/index] (bundle.go); lists that look at command lines
// are judged once for each command (lanes.go).
//
// What the package promises:
//
//   - Verdicts, their rules and the bytes they became known with do not depend on how the
//     text was cut (I1, I2), and only become stricter (I3).
//   - It is right for every file that parses, also for one that check refuses: a rule that
//     does not fit a tool's schema denies the tool.
//   - The zero value of each of its types denies.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package eval
