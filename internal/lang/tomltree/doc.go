// Package tomltree parses TOML into a tree with positions. Policy files and settings are read and
// checked in this form.
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
// Properties:
//
//   - Parse accepts exactly TOML 1.1, with go-toml's own parser (only syntax.go uses it), and
//     rejects a file at the first byte that is not TOML (K27). Keys and tables that are written
//     twice, or that extend a closed table, are all found in one run, each with both positions.
//   - Numbers and dates stay source text and are never rounded (K26).
//   - Every entry keeps its comments, so that a formatter loses none.
package tomltree
