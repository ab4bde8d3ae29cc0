// Package terminal puts the questions of a queue before a person at a terminal, line
// by line: for `stopgate approvals watch`, and for programs that have a terminal and
// no interface of their own.
//
//	t := terminal.Terminal{In: tty, Out: tty, By: "anna"}
//	err := t.Serve(ctx, queue)
//
// What a model wrote is printed so that every character shows (H14). Nothing
// is answered by an empty line, by what was typed before the question was there, or
// by a key that means something else: the only yes is a y, and it counts for exactly
// what was shown (H15, H1).
package terminal
