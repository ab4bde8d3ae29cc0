// Package policy is the language of stopgate: it parses a policy file, checks
// it, compiles it and evaluates it over arguments that may still be arriving.
package policy
