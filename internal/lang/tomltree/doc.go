// Package tomltree reads TOML into a tree that knows where everything stands:
// the form in which policy files and settings are checked before they mean
// anything.
//
//	doc, diags := tomltree.Parse("stopgate.toml", text)
//	if diags.HasErrors() {
//		return diags
//	}
//	gate := doc.Root.Get("gate")         // *Entry, nil if absent
//	gate.Value.Get("strict").Value.Range // line and column of `true`
//
// [Decode] fills a struct from a table for packages that only need settings.
//
// What it promises:
//
//   - A file is read exactly as TOML 1.1 says, by go-toml's own parser (the file
//     syntax.go is the only one that knows it), and refused at the first byte that
//     is no TOML (K27). Keys and tables that are written twice, or that extend what
//     is closed, are all found in one run, each with both places.
//   - Numbers and dates stay source text: nothing is rounded (K26).
//   - Every entry keeps its comments, so that a formatter loses none.
package tomltree
