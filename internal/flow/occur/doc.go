// Package occur defines when a value occurs in a text: how texts are split into tokens, and which
// tokens a value needs.
//
// A text is a sequence of words and marks: normalised by NFKC and case folding, separated at white
// space. A word is a run of letters and digits; of scripts without spaces it is one character. A mark
// is a run of one punctuation character: "rm -rf" is not "rm rf". A text has atoms, too: addresses,
// URLs, hosts, paths, numbers and so on, each of which is one token however it is spelled. [Scan]
// finds both.
//
// [Value] returns the tokens that a value needs. Plain needles are those of a value that is written
// as people write it: if one of them is among the plain tokens of a text, then the text has the
// value. Loose needles are all in which some program could read the value: decoded, as it looks, with
// other separators. Loose tokens are the same for texts. Conditions that permit look for plain
// needles among plain tokens, those that restrict for loose ones among all.
//
// An atom is plain where every program reads the same one:
//   - an id is what is between white space, quotes, brackets and commas, verbatim. One with spaces is
//     a short line, or in quotes;
//   - an e-mail address has neither a character of addresses nor "/", "@" or "%" around it. Display
//     names are dropped, headers of "mailto:" make it no address;
//   - a URL is one that package weburl reads, outside of other URLs. "www." and the default port are
//     dropped. Without a scheme it is one of http or https;
//   - a host is that of a URL, or written alone and not with the ending of a file name. It has the
//     port, if that is not the default one. A subdomain is another host;
//   - a path has no ".." and no backslash, and is relative to the same root;
//   - a number is no part of a date, a phone number, an account or another number.
//     "1.200" and "1,5" have two values and no plain one, "1,200" is English;
//   - an amount has the code of a currency; "$" is one of its own;
//   - a date has a year, and day and month cannot be exchanged. A time is a part of it;
//   - phone numbers and accounts are compared without separators, and with the country if it is
//     written.
//
// A value is weak if it occurs by chance: of fewer than three characters, a number below 1000 without
// a unit, a common word.
//
// The package knows no sources and stores nothing. All work is linear in the length of the text.
package occur
