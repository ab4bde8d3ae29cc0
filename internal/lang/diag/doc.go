// Package diag describes mistakes in policy and settings files: the position, the mistake and the
// remedy.
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
// Properties:
//
//   - A [Code] is stable: it identifies one kind of mistake for ever. The catalogue has the
//     meaning of each code, and whether it is an error in strict mode.
//   - The text form cannot control a terminal: control characters and invisible ones are printed
//     as visible escapes (H14).
//   - Columns count code points from 1, offsets count bytes from 0.
package diag
