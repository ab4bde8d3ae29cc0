// Package index implements [flow.Index] and [flow.View]: in which texts of a session a value occurs,
// without keeping the texts.
//
// The tokens of a text ([occur.Scan]) become keyed hashes of 64 bits; a session has its own key. Words
// and marks keep their order, so that a phrase is found as a row of tokens; every other token is an
// atom, of which only the texts are kept that have it. Texts are added in batches and are in volumes, of
// an eighth of the budget each. If the budget is used up, the oldest volume is dropped, those with
// trusted texts last, and anything may occur in the texts that it had: a doubt of every query for their
// sources. Untrusted texts never take the place of trusted ones.
//
// A value that a result repeats from the arguments of its own call does not occur in it. A hidden text
// never has a value for certain.
//
// A batch is also returned as a segment, in binary form, with a keyed hash at its end. Restoring the
// segments in their order gives an index with the same answers. An index that could not restore one
// answers with doubt.
package index
