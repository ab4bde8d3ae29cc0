// Package literal finds which of many literals a text is, begins with or lies
// below, at a cost that does not grow with their number. It is how thousands of
// rules on one argument are asked at once.
//
//	paths := literal.NewPaths([]literal.Entry{
//		{Text: "src", Prefix: true, Member: 0}, // "src" and everything below it
//		{Text: "go.mod", Member: 1},            // this path alone
//	})
//	paths.Find([]byte("src/a"), nil) // [0]
//
//	tree := literal.NewTree([]literal.Entry{{Text: "rm", Prefix: true, Member: 0}}, nil)
//	var c literal.Cursor
//	tree.Start(&c)
//	tree.Feed(&c, []byte("ls"))  // 1, true: nothing is open behind the first byte
//
// Members are the conditions; a member may have several literals. Each has a class
// (the mode of its rule): a [Summary] says which member of each class comes first,
// which is all that a list of rules has to know.
//
// What it promises:
//
//   - [Paths] and a [Tree] are immutable once built, and safe for concurrent use.
//   - Finding and feeding allocate nothing and take time linear in the text, but for
//     members that are found.
//   - A [Tree] says with the first byte after which nothing can change it what became
//     of every literal, also for texts that are read in the further forms
//     of restrictive conditions (K21).
package literal
