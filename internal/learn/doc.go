// Package learn proposes policy rules from what people approved.
//
//	p, err := learn.Propose(learn.Policy{Name: "stopgate.toml", Text: text, Options: o}, rows, learn.Options{})
//	for _, each := range p.Proposals {
//		fmt.Println(each.Sentence, each.Rule) // "cargo_check with these values of package", `{ arg = "/package", ... }`
//	}
//
// Only a yes of a person to a question of this gate is evidence. A call that a grant, a program or a judge
// approved, one that nobody answered, and one that was left to the prompt of a host are none; the latter
// count only where the caller vouches for them ([Options.Referred]). A call that a person declined or edited,
// or that the policy denied, is evidence against: no proposal permits it.
//
// A proposal has one of these generalisations, the narrowest first:
//
//	exactly this      the recorded values, and no others
//	same directory    paths below one directory
//	same subcommand   a command with the same words and options, and another operand
//	same host         URLs with the same scheme and host
//	same tool         a tool that only looks, with other values of plain parameters, or other words in those
//	                  that the table of known tools lets vary
//
// Approvals of calls count for each other that say the same action with other parameters: without one that may vary,
// or with their files in another one. Each rule names every parameter that the tool has.
//
// Properties, for every policy and every list of rows:
//
//   - Under the policy with a proposal, every call that it covers runs unasked, no call of the rows that was
//     refused runs unasked, and every verdict that is stricter than ask stays.
//   - Only catch-all questions are generalised: a rule that asks under a condition, and for another
//     reason than the end of its list, is a question that somebody wanted. Its calls are learned exactly.
//   - Calls that touch what other tools, guards, session policies or the floors ask about are not learned.
//   - No value that looks like a secret is in a proposal.
//   - Every proposal is judged by the evaluator itself: texts of rules decide nothing here.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package learn
