// Package diag describes mistakes in files that people write: where, what, and
// what to write instead.
//
//	var list diag.List
//	list.Add(diag.Diagnostic{
//		Code: diag.UnknownKey, File: "stopgate.toml", Range: lines.Range(start, end),
//		Message: `unknown key "moed"`, Hint: "did you mean `mode`?",
//	})
//	list.Sort()
//	fmt.Print(diag.Text(list, func(string) []byte { return text }))
//
// prints
//
//	stopgate.toml:3:29: error SG0103: unknown key "moed"
//	 3 | run = [ { arg = "/path", moed = "ask" } ]
//	   |                          ^^^^
//	   = did you mean `mode`?
//
// What it promises:
//
//   - A [Code] is stable: it names one kind of mistake for ever. The catalogue says
//     for each what it means and whether strict reading makes it an error.
//   - The text form shows nothing of a file that a terminal could act on: control
//     characters and invisible ones are printed as visible escapes (H14).
//   - Columns count code points from 1, offsets count bytes from 0.
package diag
