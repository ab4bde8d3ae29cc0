package shell

// sweepKind is how a program takes files that its words do not name.
type sweepKind uint8

// The kinds; the zero value is a program that takes no such files.
const (
	sweepSearch   sweepKind = iota + 1 // shows lines of the files below directories
	sweepCode                          // likewise, without hidden and ignored files
	sweepFind                          // gives files to commands
	sweepListed                        // likewise, the files of a search
	sweepGit                           // by its subcommand
	sweepArchive                       // packs the files below its operands if it writes an archive
	sweepOperands                      // packs the files below its operands
	sweepCopy                          // gives copies of the files below its operands another path
	sweepRename                        // gives its operands another path
	sweepLink                          // likewise, by links
	sweepTransfer                      // sends the files below its operands
	sweepDiff                          // shows the files of directories
	sweepAnywhere                      // takes names from its input
)

// options are some options of a program.
type options struct {
	// letters are options of one letter, also in a cluster; after a letter of values the rest of a
	// word is its value.
	letters, values string
	long            words  // long options, also abbreviated to two or more letters
	whole           words  // complete words
	bundle          string // letters of tar without a dash
	at              bool   // a word that begins with @
}

var (
	grepDeep  = []options{{letters: "rR", values: grepValues, long: words{"recursive", "dereference-recursive", "directories"}}, {letters: "d", values: "efmABCD"}}
	fdDeep    = []options{{letters: "xX", values: "dtecgSojE", long: words{"exec", "exec-batch"}}}
	copyDeep  = []options{{letters: "rRa", values: "tS", long: words{"recursive", "archive"}}}
	linkDeep  = []options{{letters: "s", values: "tS", long: words{"symbolic"}}}
	tarLists  = []options{{letters: "T", values: "fCXbKNVFIgL", long: words{"files-from"}, bundle: "T"}}
	sortLists = []options{{long: words{"files0-from"}}}
	fromLists = []options{{long: words{"files-from"}}}
	zipLists  = []options{{whole: words{"-@", "-i@", "-r@"}}}
	atLists   = []options{{at: true}} // strings @FILE, 7z a x @FILE
)

// any reports whether the command has one of some options.
func (s *sweeper) any(list []options) bool {
	for i := range list {
		o := &list[i]
		if s.cluster(o.letters, o.values) || s.long(o.long...) || s.has(o.whole...) || o.bundle != "" && s.bundle(o.bundle) || o.at && s.atFile() {
			return true
		}
	}
	return false
}

// atFile reports whether a word names a list of files after @.
func (s *sweeper) atFile() bool {
	for _, w := range s.command.Words[1:] {
		if len(w.Text) > 1 && w.Text[0] == '@' {
			return true
		}
	}
	return false
}
