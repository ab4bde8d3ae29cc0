// Package index asks many conditions about one value at once: rules on one argument
// are compiled into one structure, so that a decision costs the same whether ten rules
// look at the argument or ten thousand.
//
//	x := index.New(false, match.Env{})
//	x.Add(index.Member{ID: 0, Class: 3, Readings: []*match.Matcher{m0}})
//	x.Add(index.Member{ID: 1, Class: 0, Readings: []*match.Matcher{m1}})
//	x.Build()
//	var s index.State
//	x.Start(&s)
//	n, changed := x.Feed(&s, chunk) // as far as something becomes known
//	x.End(&s, value, &hits)         // the conditions that the complete value satisfies
//
// Literals of plain strings stand in a tree, those of paths in a table that one reading
// of the path is looked up in, numbers in a map, ranges in sorted lists. What none of
// these can hold is asked one by one.
//
// What it promises:
//
//   - It answers as [match.Matcher] does for each member, with the same byte.
//   - A built [Index] is immutable and safe for concurrent use.
//   - Plainly written values cost no allocation.
package index
