// Package index evaluates many conditions on one value at once. The rules on one argument are
// compiled into one structure, so that a decision costs the same for ten rules on the argument and
// for ten thousand.
//
//	x := index.New(false, condition.Env{})
//	x.Add(index.Member{ID: 0, Class: 3, Readings: []*match.Matcher{m0}})
//	x.Add(index.Member{ID: 1, Class: 0, Readings: []*match.Matcher{m1}})
//	x.Build()
//	var s index.State
//	x.Start(&s)
//	n, changed := x.Feed(&s, chunk) // up to the first byte that decides about a member
//	x.End(&s, value, &hits)         // the conditions that the complete value satisfies
//
// [Lines] does the same for conditions on command lines, which are evaluated command by command.
//
// Literals of plain strings are in a tree, those of paths in a table in which the path is looked up
// once, numbers in a map, ranges in sorted lists. All other conditions are evaluated one by one.
//
// Properties:
//
//   - For each member the result is that of its [match.Matcher], with the same byte.
//   - A built [Index] is immutable and safe for concurrent use.
//   - Plainly written values cost no allocation.
package index
