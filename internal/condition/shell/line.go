package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Line is a parsed command line. Read reuses it; it belongs to one goroutine, and its results are
// valid until the next Read.
type Line struct {
	// Commands are the simple commands in text order, each followed by the commands
	// unwrapped from it.
	Commands []Command
	// Plain reports whether the line is a list of simple commands that every shell reads in the
	// same way, with words that are literal or become operands, and whether this also holds for the
	// commands unwrapped from them. Redirections to literal targets are plain; [Command.Redirects]
	// has them.
	Plain bool
	// Complete is false if Commands may lack commands: the text could not be parsed, or it runs
	// computed text.
	Complete bool
	// Excess is set if nested commands, files put into directories, or words with wildcards exceed the limits.
	// Restrictive conditions then have to match the line.
	Excess bool

	words     []Word
	redirects []Redirect
	text      []byte    // words without their quotes
	flat      []Command // commands that are being unwrapped
	nested    int       // budget spent on nested commands: bytes and words
	unrolled  int       // bytes of unrolled loop lists
}

// Command is one simple command.
type Command struct {
	Words     []Word // the first names the program; none: only assignments or redirections
	Redirects []Redirect
	// Parent is the index of the command that this one was unwrapped from, -1 if it is in the line
	// itself. Its words are the parent's from From to To (with their terminator), or are in the
	// parent's word From.
	Parent, From, To int
	// End is the index after the last command unwrapped from this one.
	End int
	// Plain: the results of all expansions are certain, no assignment could change what runs, and
	// its position in the line is plain.
	Plain bool
	// Runs: an option of it runs code (E16).
	Runs bool
	// Open: unknown words follow, as after xargs.
	Open bool
	// Moved: an earlier command changes the directory (E22), so that relative paths may name other
	// files.
	Moved bool
	// Lost: an earlier command changes to a directory that the line does not name, as "cd -" does.
	Lost bool
	// Dirs are directories, as written, in which relative paths of the command may begin, in
	// addition to the one in which the line starts: those that earlier commands change to (E22),
	// and those in options of the command or of its wrappers.
	Dirs []string
	// Into is the single directory, as written, that every earlier change of directory leads to; ""
	// if there is none, several, or a relative one. Sure: the command works there if it runs at
	// all. If Sure is false it may also work where the line begins, since the change may have
	// failed or have been made by another process.
	Into string
	Sure bool
	// Dir is the directory, as written, in which the command works if it runs at all and the shell
	// does not search for directories elsewhere; "" where the line begins. Located reports whether
	// it is known.
	Dir     string
	Located bool
	// Prints: some words are texts that cat prints, "$(cat <<'END' ...)". They are literal; that
	// cat runs as well, without options and files.
	Prints bool
	// Piped: it reads the output of another command of a plain line.
	Piped bool
	// Fed: it reads a here-document of the line, or what it shares with other commands: the input of
	// a compound command, or the output of one.
	Fed bool
	// Repeats: it is in a loop and may run any number of times, also before the commands that precede
	// it in the loop.
	Repeats bool
	// Feeds: another command of the line takes words from its input, so that the output of this one
	// may name files.
	Feeds bool

	// inner: it is in a compound command or in $(...), so that a change of directory may not happen or
	// not last.
	inner bool
	// restored: it Repeats, in a shell of its own each time: it begins in the same directory.
	restored bool
	script   []byte // script that a shell reads from its input
	braces   []byte // a first word that braces expand to a command
	// joined: only && and | are between it and the first command of the line, and both are in the
	// line itself.
	Joined bool
	// own is the index of the first word of the command that this one runs, if it is a wrapper in a
	// plain line: those words name files of that command only. 0: all words are its own.
	Own int
}

// Word is one word of a command.
type Word struct {
	Text []byte // without quotes; the visible part of a word that is not Literal
	// Literal: it has no expansions. In a plain line expansions become operands of a program
	// that reads the files they name, or prints or compares them.
	Literal bool
	// Quoted: part of it was in quotes or after a backslash.
	Quoted bool
	// Glob: it has wildcards that the shell expands. Braces: it has braces that the shell expands.
	Glob, Braces bool
	// Home: the variable HOME precedes Text, which omits all variables.
	Home bool
	// Tilde: its only expansion is the ~ that it begins with.
	Tilde bool
}

// Redirect is a redirection that opens a file.
type Redirect struct {
	Target Word
	Write  bool // opened for writing; otherwise for reading
}

// Harmless reports whether the file is a null device.
func (r *Redirect) Harmless() bool {
	return r.Target.Literal && string(r.Target.Text) == "/dev/null"
}

// Read parses a command line.
func (l *Line) Read(text []byte) {
	l.Commands, l.words, l.redirects, l.text = l.Commands[:0], l.words[:0], l.redirects[:0], l.text[:0]
	l.Plain, l.Complete, l.Excess, l.nested, l.unrolled = true, true, false, 0, 0
	l.read(text, parent{index: -1}, 0)
	l.finish()
}

// finish derives the properties of the line, and those that commands have because of others.
func (l *Line) finish() {
	placed := 0
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Parent >= 0 {
			p := &l.Commands[c.Parent]
			c.inner, c.Repeats, c.restored = c.inner || p.inner, p.Repeats, p.restored
		}
		if c.Repeats && !c.restored && programs.Movers.Has(string(c.Program())) {
			c.Plain = false // where the second time leads is unknown
		}
		l.Plain = l.Plain && c.Plain
		if c.Puts() {
			placed += len(c.Directories()) * len(c.Words)
		}
	}
	if placed > maxPlaced || !l.limitWildcards() {
		l.Plain, l.Complete, l.Excess = false, false, true
	}
	l.Plain = l.Plain && l.Complete && len(l.Commands) > 0
	for i := 0; i < len(l.Commands) && !l.Plain; i++ {
		l.Commands[i].Own = 0
	}
	l.moved()
	l.fed()
}

// parent is the origin of an unwrapped text.
type parent struct{ index, from, to int }

// maxDepth is the number of wrappers that are unwrapped from one another. Deeper texts are cut into
// pieces.
const maxDepth = 8

// maxNested bounds the nested commands that are parsed, in bytes of texts and in words. A line with
// more sets Excess.
const maxNested = 256 << 10

// spend takes n from the budget for nested commands and reports whether there was enough left.
func (l *Line) spend(n int) bool {
	if l.nested += n; l.nested > maxNested {
		l.Plain, l.Complete, l.Excess = false, false, true
	}
	return !l.Excess
}

// read adds the commands of a text that is a command line of its own.
func (l *Line) read(text []byte, from parent, depth int) {
	first := len(l.Commands)
	if depth > 0 && !l.spend(len(text)) {
		return
	}
	switch {
	case depth <= maxDepth && l.strict(text, from):
	case depth <= maxDepth && l.parse(text, from):
		l.Plain = false
	default:
		l.Plain, l.Complete = false, false
		l.cut(text, from)
	}
	l.unwrapAll(first, depth)
}

// add adds a command and returns it.
func (l *Line) add(words []Word, redirects []Redirect, from parent, plain bool) *Command {
	l.Commands = append(l.Commands, Command{
		Words: words, Redirects: redirects, Parent: from.index, From: from.from, To: from.to, Plain: plain,
		End: len(l.Commands) + 1,
	})
	return &l.Commands[len(l.Commands)-1]
}

// fed marks the commands of a line in which xargs, or a similar program, turns output into words.
func (l *Line) fed() {
	for i := range l.Commands {
		if l.Commands[i].Open {
			for k := range l.Commands {
				c := &l.Commands[k]
				c.Feeds = k != i
				for _, w := range c.Words {
					l.Plain = l.Plain && (w.Literal || w.Glob || w.Text[0] == '~')
				}
			}
			return
		}
	}
}

// MayBeOption reports whether a word may expand to one that begins with a dash.
func (w *Word) MayBeOption() bool {
	return !w.Literal && len(w.Text) > 0 && bytes.IndexByte([]byte("*?$"), w.Text[0]) >= 0
}

// Program returns the last component of the first word, nil if there is none.
func (c *Command) Program() []byte {
	if len(c.Words) == 0 {
		return nil
	}
	return programs.Base(c.Words[0].Text)
}
