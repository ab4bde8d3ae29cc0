package shell

import "strings"

// program is what is known of one program, from its manual page: which of its options run code,
// which of its words it reads, writes or runs. It is one row of the tables; the name of a
// subcommand is joined with "-". A program without a row may read and write every word.
//
// Whoever adds a row reads the manual page: an option that runs code and is missing is a hole, and so
// is a trait that does not hold.
type program struct {
	name   string
	traits trait
	// code are options that run code (E16), separated by blanks. A long option also matches its
	// abbreviations, an option of one letter every cluster that contains it, and a word without a
	// dash matches NAME=.
	code string
	// letters are the option letters of an interpreter that take code.
	letters string
	// after are the words after which the program runs a part of its words whatever its options, or
	// anywhere. What it runs is only suspected; rules that name it decide whether it may run.
	after string
	// delimiter is the option letter that takes a field separator: the slash of "cut -d/" is no
	// directory.
	delimiter byte
	wrapper   *wrapper     // how to find the command that it runs; nil if it is no wrapper
	texts     *textOptions // options that take texts; nil for none
	// sweep is how the program takes files that are not named, only with one of the options deep if
	// there are any. With one of lists it takes the names of files from its input, or from a list.
	sweep       sweepKind
	deep, lists []options
}

// trait is a set of facts about a program.
type trait uint64

// What a program is or does.
const (
	// shells: it reads a command line after -c.
	shells trait = 1 << iota
	// environment: it is a builtin that changes how later words are read (E21, E26).
	environment
	// evaluating: it is a builtin that some shells let evaluate its words again, as arithmetic or as the name of a variable.
	evaluating
	// loose: it runs a part of its words, or a text, in a way that depends on more than its options.
	loose
	// readers: it only reads the files it is given.
	readers
	// pathless: it has no words that are paths.
	pathless
	// scripted: it has a pattern or a script as its first operand, unless an option gives it.
	scripted
	// copiers: it writes its last operand and reads the others.
	copiers
	// placers: it puts files into a directory under their own names.
	placers
	// uploaders: it sends the file that a word names after @ or <, anywhere in the word.
	uploaders
	// metadataOnly: it only shows the name, size, dates or checksum of a file, or removes it.
	metadataOnly
	// listing: it reveals as little as metadataOnly, but takes file names from a file with some options, and prints a line of it that names no file.
	listing
	// spreading: it takes any number of files, only reads them, and gives an operand no other meaning.
	spreading
	// careless: it is spreading, and its options only read files: the name of a file may be taken for an option.
	careless
	// searching: it has options that select the searched files by a wildcard.
	searching
	// fed: it only reads the files it is given: additional operands never change what it does.
	fed
	// single: it only reads one file that is given by a path with a directory in front; spreading ones do so with any path.
	single
	// settled: it does the same in every directory: reads no settings there, and runs nothing from there.
	settled
	// writeless: it is settled and writes no files, whatever its options.
	writeless
	// linkless: it makes no links: a directory that did not exist before it does not exist after it, or is a new one.
	linkless
	// keeping: it moves no files; guards know the names of files that it writes.
	keeping
	// documented: it takes a here-document only as data.
	documented
	// movers: it changes the directory of the commands that follow.
	movers
	// naming: it may redefine what a name means to later commands.
	naming
	// declaring: it is a builtin that assigns variables.
	declaring
	// tails: it has an option that is followed by the words of a command.
	tails
	// archivers: it is tar, whose letters need no dash.
	archivers
	// gnu: it has a prefix g on systems where another program has the name.
	gnu
	// directoryLetters: it takes the directory that it works in after -C.
	directoryLetters
	// onlyNames: it shows only names, sizes, dates and link targets of the files that its words name.
	onlyNames
	// special: it is unwrapped by rules of its own.
	special
)

// has reports whether a program has the trait.
func (t trait) has(name string) bool { return programOf(name).traits&t != 0 }

// unknown is the row of programs without one.
var unknown program

// tables returns the rows, by the beginning of their names. They are laid out by the linker and
// sorted: a process that evaluates one call should not build a map first.
func tables() [3][]program {
	return [...][]program{programsAToF[:], programsGToN[:], programsOToZ[:]}
}

// programOf returns the row of a program.
func programOf(name string) *program {
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
func (p *program) wraps() bool {
	return p.wrapper != nil || p.traits&(shells|loose) != 0 || p.name == "eval"
}

// known reports whether unwrap handles a program.
func known(name string) bool {
	p := programOf(name)
	return p.wraps() || p.traits&(special|environment|evaluating) != 0 || p.code != "" || p.letters != "" || p.after != ""
}

// Wrapper reports whether a program runs a part of its words.
func Wrapper(name []byte) bool {
	p := programOf(string(familiar(name)))
	return p.wraps() || p.after == anywhere
}

// listed reports whether a word is in a short list that is separated by blanks.
func listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// words is a small set of words, laid out by the linker and searched linearly.
type words []string

func (w words) has(word string) bool {
	for _, s := range w {
		if len(s) == len(word) && s[0] == word[0] && s == word {
			return true
		}
	}
	return false
}
