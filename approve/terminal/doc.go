// Package terminal asks the questions of a queue at a terminal, line by line: for `stopgate
// approvals watch`, and for programs with a terminal and no interface of their own.
//
//	t := terminal.Terminal{In: tty, Out: tty, By: "anna"}
//	err := t.Serve(ctx, queue)
//
// Text of a model is printed so that every character is visible (H14). Only y is a yes, and it
// approves exactly the call that was shown (H1). An empty line, another key and input typed before
// the question was shown are no answer (H15).
package terminal
