package programs

// sweepKind is how a program takes files that its words do not name.
type sweepKind uint8

// The kinds; the zero value is a program that takes no such files.
const (
	SweepSearch   sweepKind = iota + 1 // shows lines of the files below directories
	SweepCode                          // likewise, without hidden and ignored files
	SweepFind                          // gives files to commands
	SweepListed                        // likewise, the files of a search
	SweepGit                           // by its subcommand
	SweepArchive                       // packs the files below its operands if it writes an archive
	SweepOperands                      // packs the files below its operands
	SweepCopy                          // gives copies of the files below its operands another path
	SweepRename                        // gives its operands another path
	SweepLink                          // likewise, by links
	SweepTransfer                      // sends the files below its operands
	SweepDiff                          // shows the files of directories
	SweepAnywhere                      // takes names from its input
)

// Options are some options of a program.
type Options struct {
	// letters are options of one letter, also in a cluster; after a letter of values the rest of a
	// word is its value.
	Letters, Values string
	Long            Words  // long options, also abbreviated to two or more letters
	Whole           Words  // complete words
	Bundle          string // letters of tar without a dash
	At              bool   // a word that begins with @
}

var (
	grepDeep  = []Options{{Letters: "rR", Values: GrepValues, Long: Words{"recursive", "dereference-recursive", "directories"}}, {Letters: "d", Values: "efmABCD"}}
	fdDeep    = []Options{{Letters: "xX", Values: "dtecgSojE", Long: Words{"exec", "exec-batch"}}}
	copyDeep  = []Options{{Letters: "rRa", Values: "tS", Long: Words{"recursive", "archive"}}}
	linkDeep  = []Options{{Letters: "s", Values: "tS", Long: Words{"symbolic"}}}
	tarLists  = []Options{{Letters: "T", Values: "fCXbKNVFIgL", Long: Words{"files-from"}, Bundle: "T"}}
	sortLists = []Options{{Long: Words{"files0-from"}}}
	fromLists = []Options{{Long: Words{"files-from"}}}
	zipLists  = []Options{{Whole: Words{"-@", "-i@", "-r@"}}}
	atLists   = []Options{{At: true}} // strings @FILE, 7z a x @FILE
)

// Options with values of search programs: letters, and long ones that may have the value in the
// next word. A word that is a value is no directory.
const (
	GrepValues   = "efmABCdD"
	SearchValues = "efmABCdDEgjMrtTG"
)

var LongValues = Words{
	"regexp", "file", "max-count", "after-context", "before-context", "context", "include", "exclude", "exclude-dir", "exclude-from", "directories",
	"devices", "label", "encoding", "engine", "glob", "iglob", "threads", "max-columns", "max-depth", "max-filesize", "replace", "type", "type-not",
	"type-add", "type-clear", "path-separator", "pre", "pre-glob", "sort", "sortr", "color", "colors", "context-separator", "field-context-separator",
	"field-match-separator", "hyperlink-format", "dfa-size-limit", "regex-size-limit", "ignore-file", "hostname-bin", "depth", "file-search-regex",
	"ignore", "ignore-dir", "path-to-ignore", "pager", "width", "workers", "match", "output", "group", "ignore-directory",
}
