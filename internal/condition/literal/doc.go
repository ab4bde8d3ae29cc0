// Package literal finds which of many literals a text equals, begins with or is below, at a cost
// that does not grow with their number. An index uses it to evaluate thousands of rules on one
// argument at once.
//
//	paths := literal.NewPaths([]literal.Entry{
//		{Text: "src", Prefix: true, Member: 0}, // "src" and everything below it
//		{Text: "go.mod", Member: 1},            // only this path
//	})
//	paths.Find([]byte("src/a"), nil) // [0]
//
//	tree := literal.NewTree([]literal.Entry{{Text: "rm", Prefix: true, Member: 0}}, nil)
//	var c literal.Cursor
//	tree.Start(&c)
//	tree.Feed(&c, []byte("ls"))  // 1, true: no member is open after the first byte
//
// Members are conditions; a member may have several literals. Each member has a class (the mode of
// its rule). A [Summary] contains the first member of each class, which is all that a rule list
// needs.
//
// Properties:
//
//   - [Paths] and [Tree] are immutable once built, and safe for concurrent use.
//   - Finding and feeding do not allocate and take time linear in the text, except for the
//     members that are found.
//   - A [Tree] decides about every literal with the first byte after which no continuation can
//     change the decision, also for texts that are read in the additional forms of restrictive
//     conditions (K21).
package literal
