// Package condition is the vocabulary of the conditions of the policy language: a condition as
// written, the value that it applies to, and the definition of a kind of condition ([Definition]).
//
//	var Kind = condition.Definition{
//		Kind:  "even_length",
//		Types: schema.String,
//		Build: func(r condition.Request) (condition.Tests, *condition.SpecError) { ... },
//	}
//
// A kind is a package below this one. Package kinds has the table of all kinds ([Table]), which the
// parser gets; package match compiles and evaluates a condition by its row.
//
// A test evaluates the string of a [Value]. It shares what it derives from the string with other
// tests ([Derived]). The interfaces that it implements show whether it evaluates strings while
// they arrive ([StepTest]), may not know a path ([UnknownTest]) or evaluates command lines command
// by command ([LineTest]).
package condition
