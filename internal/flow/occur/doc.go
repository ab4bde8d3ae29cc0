// Package occur defines when a value occurs in a text: how texts are split into tokens, and which
// tokens a value needs.
//
// A text is a sequence of words and marks: normalised by NFKC and case folding, separated at white
// space. A word is a run of letters and digits; of scripts without spaces it is one character. A mark
// is a run of one punctuation character. Besides, a text has atoms: addresses, URLs, hosts, paths,
// numbers and so on, each of which is one token however it is spelled. [Scan] finds both.
//
// [Value] returns the tokens that a value needs. Plain needles are those of a value that is written
// as people write it: if one of them is among the plain tokens of a text, then the text has the
// value. Loose needles are all in which some program could read the value: decoded, without invisible
// characters, with other separators. Conditions that permit look for plain needles, those that
// restrict for loose ones.
//
// The package knows no sources and stores nothing. All work is linear in the length of the text.
package occur
