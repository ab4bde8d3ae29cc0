// Package terminal asks the questions of a queue at a terminal, line by line: for `stopgate
// approvals watch`, and for programs with a terminal and no interface of their own.
//
//	t := terminal.Terminal{In: tty, Out: tty, By: "anna"}
//	err := t.Serve(ctx, queue)
//
// Text of a model is printed so that every character is visible (H14). An empty line, input typed
// before the question was shown, or any other key answers nothing: only y is a yes, and it approves
// exactly the call that was shown (H15, H1).
package terminal
