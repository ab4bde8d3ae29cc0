// Package eval evaluates calls by policy files while their arguments are still arriving.
//
//	policies := eval.New([]*eval.Layer{{File: file, Trusted: true, Env: condition.Env{Root: "/srv/app"}}}, stopgate.Deny)
//	e := policies.Bind(stopgate.Call{Tool: "write_file"}).Evaluate()
//	for chunk := range chunks {
//		if v := e.Feed(chunk); v.Terminal() {
//			return v // final, whatever follows
//		}
//	}
//	return e.Close(stopgate.Ended)
//
// # How it works
//
// Bind compiles the tables of one tool to a plan: lists of rules, their conditions, and for each
// schema a graph of shapes, which has the conditions of every location of the arguments
// (compile*.go, plan.go). An Evaluation walks that graph along the events of one parser (walk.go),
// feeds texts to the tests of conditions while they arrive (text.go), and tracks for every
// condition whether it holds, has failed or still waits (state.go). A list is read again only when
// one of its rules changed; its strictest and its weakest mode that are still possible determine
// the verdict (verdict.go). Many rules on one parameter are one bundle, evaluated by package
// [github.com/stopgate/stopgate/internal/condition/index] (bundle.go); lists on command lines are
// evaluated once for each command (lanes.go, textcommand.go).
//
// Properties:
//
//   - Verdicts, their rules and their offsets do not depend on the chunks of the text (I1, I2),
//     and only become stricter (I3).
//   - It is correct for every file that parses, also for one that check rejects: a rule that does
//     not fit a tool's schema denies the tool.
//   - The zero value of each of its types denies.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package eval
