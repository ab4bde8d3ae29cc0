// Package literal finds which of many literals a text is, begins with or lies
// below, at a cost that does not grow with their number. It is how thousands of
// rules on one argument are asked at once.
//
//	t := literal.NewTable(false)
//	t.Add("src", true, 0)        // member 0: "src" and everything below it
//	t.Add("go.mod", false, 1)    // member 1: this path alone
//	t.Find([]byte("src/a"), nil) // [0]
//
//	b := new(literal.Builder)
//	b.Add("rm", literal.Entry{Member: 0, Prefix: true})
//	tree := b.Build(false)
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
//   - A [Table] and a [Tree] are immutable once built, and safe for concurrent use.
//   - Finding and feeding allocate nothing and take time linear in the text, but for
//     members that are found.
//   - A [Tree] says with the first byte after which nothing can change it what became
//     of every literal (DESIGN 2), also for texts that are read in the further forms
//     of restrictive conditions (K21).
package literal
