// Package origin has the conditions on where a value comes from (from, not_from), and on what it
// carries (carries).
//
//	from = ["user", "contacts"]      every element occurs in a text of these sources
//	not_from = "web"                 every element occurs in no text of these sources
//	carries = "secrets_file"         it holds a part of a text of these sources
//
// A permissive condition needs certainty: the value occurs as it is written in a visible text, or it
// is known that no reading of it occurs. A restrictive one holds on suspicion: some reading occurs,
// or the texts of a source are not known. Without texts nothing is known.
//
// A list is evaluated by element and an object by leaf, which package eval does. A command line is
// evaluated by its words, see lineTest.
package origin
