// Package programs describes the programs that command lines run, one row for each: their options
// that run code, the words that they read, write or run, and the files that they use without naming
// them.
//
//	programs.Of("timeout").Wrapper      // it runs its words from the second on
//	programs.MetadataOnly.Has("stat")   // true
//
// A new program is a row of the tables; a test checks every fact of every row on a line with the
// program.
package programs

import "strings"

// Row describes one program, from its manual page: its options that run code, and the words that it
// reads, writes or runs. It is one row of the tables; the name of a subcommand is joined with "-". A
// program without a row may read and write every word.
//
// Read the complete manual page before you add a row: a missing option that runs code is a
// vulnerability, and so is a wrong trait.
type Row struct {
	name   string
	traits trait
	// Code are options that run code (E16), separated by blanks. A long option also matches its
	// abbreviations, an option of one letter every cluster that contains it, and a word without a
	// dash matches NAME=.
	Code string
	// Letters are the option letters of an interpreter that take code.
	Letters string
	// After are the words after which the program runs a part of its words whatever its options, or
	// anywhere. These commands are only suspected; rules that name the program decide about it.
	After string
	// Delimiter is the option letter that takes a field separator: the slash of "cut -d/" is no
	// directory.
	Delimiter byte
	Wrapper   *Wrapper     // how to find the command that it runs; nil if it is no wrapper
	Texts     *TextOptions // options that take texts; nil for none
	// Sweep is how the program takes files that are not named, only with one of the options of
	// Deep if there are any. With one of Lists it takes the names of files from its input, or from a list.
	Sweep       sweepKind
	Deep, Lists []Options
}

// trait is a set of facts about a program.
type trait uint64

// The traits of programs.
const (
	// Shells: it reads a command line after -c.
	Shells trait = 1 << iota
	// Environment: it is a builtin that changes how later words are read (E21, E26).
	Environment
	// Evaluating: it is a builtin that some shells let evaluate its words again, as arithmetic or as the name of a variable.
	Evaluating
	// Loose: it runs a part of its words, or a text, in a way that depends on more than its options.
	Loose
	// Readers: it only reads the files it is given.
	Readers
	// Pathless: it has no words that are paths.
	Pathless
	// Scripted: it has a pattern or a script as its first operand, unless an option gives it.
	Scripted
	// Copiers: it writes its last operand and reads the others.
	Copiers
	// Placers: it puts files into a directory under their own names.
	Placers
	// Uploaders: it sends the file that a word names after @ or <, anywhere in the word.
	Uploaders
	// MetadataOnly: it only shows the name, size, dates or checksum of a file, or removes it.
	MetadataOnly
	// Listing: it reveals as little as MetadataOnly, but takes file names from a file with some options, and prints a line of it that names no file.
	Listing
	// Spreading: it takes any number of files, only reads them, and gives an operand no other meaning.
	Spreading
	// Careless: it is spreading, and its options only read files: the name of a file may be taken for an option.
	Careless
	// Searching: it has options that select the searched files by a wildcard.
	Searching
	// Fed: it only reads the files it is given; additional operands never change its effect.
	Fed
	// Single: it only reads one file that is given by a path with a directory in front; spreading ones do so with any path.
	Single
	// Settled: it does the same in every directory, and reads no settings or programs there.
	Settled
	// Writeless: it is settled and writes no files, whatever its options.
	Writeless
	// Linkless: it makes no links: a directory that did not exist before it does not exist after it, or is a new one.
	Linkless
	// Keeping: it moves no files; guards know the names of files that it writes.
	Keeping
	// Documented: it takes a here-document only as data.
	Documented
	// Movers: it changes the directory of the commands that follow.
	Movers
	// Naming: it may redefine a name for later commands.
	Naming
	// Declaring: it is a builtin that assigns variables.
	Declaring
	// Tails: it has an option that is followed by the words of a command.
	Tails
	// Archivers: it is tar, whose letters need no dash.
	Archivers
	// gnu: it has a prefix g on systems where another program has the name.
	gnu
	// DirectoryLetters: it takes the directory that it works in after -C.
	DirectoryLetters
	// OnlyNames: it shows only names, sizes, dates and link targets of the files that its words name.
	OnlyNames
	// special: it is unwrapped by rules of its own.
	special
)

// Has reports whether a program has the trait.
func (t trait) Has(name string) bool { return Of(name).traits&t != 0 }

// unknown is the row of programs without one.
var unknown Row

// tables returns the rows, by the beginning of their names. They are laid out by the linker and
// sorted: a process that evaluates one call should not build a map first.
func tables() [3][]Row {
	return [...][]Row{programsAToF[:], programsGToN[:], programsOToZ[:]}
}

// Of returns the row of a program.
func Of(name string) *Row {
	rows := programsOToZ[:]
	switch {
	case name < "g":
		rows = programsAToF[:]
	case name < "o":
		rows = programsGToN[:]
	}
	low, high := 0, len(rows)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if rows[middle].name < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(rows) && rows[low].name == name {
		return &rows[low]
	}
	return &unknown
}

// wraps reports whether a program runs a part of its words.
func (p *Row) wraps() bool {
	return p.Wrapper != nil || p.traits&(Shells|Loose) != 0 || p.name == "eval"
}

// Known reports whether unwrap handles a program.
func Known(name string) bool {
	p := Of(name)
	return p.wraps() || p.traits&(special|Environment|Evaluating) != 0 || p.Code != "" || p.Letters != "" || p.After != ""
}

// Wraps reports whether a program runs a part of its words.
func Wraps(name []byte) bool {
	p := Of(string(Familiar(name)))
	return p.wraps() || p.After == Anywhere
}

// Listed reports whether a word is in a short list that is separated by blanks.
func Listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// Words is a small set of words, laid out by the linker and searched linearly.
type Words []string

func (w Words) Has(word string) bool {
	for _, s := range w {
		if len(s) == len(word) && s[0] == word[0] && s == word {
			return true
		}
	}
	return false
}
