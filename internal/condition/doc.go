// Package condition is the vocabulary of the conditions of the policy language: a condition as
// written, the value that it applies to, and what a kind of condition brings ([Definition]).
//
//	var Kind = condition.Definition{
//		Kind:  "even_length",
//		Types: schema.String,
//		Build: func(r condition.Request) (condition.Tests, *condition.SpecError) { ... },
//	}
//
// A kind is a package below this one. Package match has the table of all kinds, and evaluates
// compiled conditions.
package condition
