// Package trial decides calls on trial: by the real gate, but without records, and neither a person
// nor a judge nor an external policy is asked. The commands decide, explain, test and replay use it,
// and the playground of the documentation, which runs in a browser.
//
//	j, err := trial.NewDecider(program, program, store)
//	verdict, err := j.Decide(ctx, call, args)
//	answer := j.Answer(call, verdict, len(args))
package trial
