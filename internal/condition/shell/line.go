package shell

import "bytes"

// Line is a command line taken apart. It is reused with Read and belongs to one
// goroutine; what it gave out before is not valid after the next Read.
type Line struct {
	// Commands are the simple commands in text order, each followed by the commands
	// unwrapped from it.
	Commands []Command
	// Plain says that the line is a list of simple commands that every shell reads alike,
	// of words that are literal or become operands, and that so are the commands unwrapped
	// from them.
	// Redirections to literal targets are plain; [Command.Redirects] has them.
	Plain bool
	// Complete is not set if there may be commands that Commands does not have: the
	// text could not be parsed, or it runs what it computes.
	Complete bool
	// Excess: commands inside commands, or files put into directories, are more than is
	// looked at. Whoever suspects has to take the line for what he looks for.
	Excess bool

	words     []Word
	redirects []Redirect
	text      []byte    // of words whose quotes are removed
	flat      []Command // commands that are being unwrapped
	nested    int       // what was spent on commands inside commands: bytes and words
	unrolled  int       // bytes of lists of loops
}

// Command is one simple command.
type Command struct {
	Words     []Word // the first names the program; none: only assignments or redirections
	Redirects []Redirect
	// Parent is the index of the command that this one was unwrapped from, -1 if it
	// stands in the line itself. Its words are the parent's from From to To (with
	// what ends them), or are written inside the parent's word From.
	Parent, From, To int
	// End is the index behind the last command unwrapped from this one.
	End int
	// Plain: words of which it is certain what they become, no assignment that could change
	// what runs, and its place in the line is plain.
	Plain bool
	// Runs: an option of it runs code (E16).
	Runs bool
	// Open: more words follow that nobody can see here, as behind xargs.
	Open bool
	// Moved: a command before it changes the directory (E22), so that relative paths
	// name other files than they seem to.
	Moved bool
	// Dirs are directories, as they are written, from which the relative paths of the
	// command may begin beside the one in which the line starts: those that commands before
	// it change to (E22), and that options of it or of what runs it name.
	Dirs []string
	// Into is the one directory, as it is written, that every change of directory before the
	// command leads to; "" if there is none, if there are several, and if it is not absolute.
	// Sure: the command works there if it runs at all. If not it may also work where the line
	// begins: the change may have failed, or been made by another process.
	Into string
	Sure bool
	// Place is the directory, as it is written, in which the command works if it runs at all
	// and the shell looks for directories where it is; "" where the line begins. Located says that this is
	// known.
	Place   string
	Located bool
	// Prints: words of it are texts that cat prints, "$(cat <<'END' ...)". They are literal;
	// that cat runs as well, without options and files.
	Prints bool
	// Piped: it reads what another one of a plain line prints.
	Piped bool
	// Fed: it reads a text that stands in the line itself.
	Fed bool
	// Feeds: another command of the line takes words from its input, so that what this
	// one prints may name files.
	Feeds bool

	script []byte // text that a shell reads from its input
	braces []byte // a first word whose braces make it a command
	// joined: nothing but && and | stands between it and the first command of the line, and
	// both stand in the line itself.
	joined bool
}

// Word is one word of a command.
type Word struct {
	Text []byte // without quotes; of a word that is not Literal what can be seen
	// Literal: nothing in it is expanded. In a plain line what is expanded becomes operands
	// of a program that reads the files they name, or shows or compares them.
	Literal bool
	// Quoted: some of it stood in quotes or behind a backslash.
	Quoted bool
	// Glob: it has wildcards that the shell expands. Braces: it has braces that it does.
	Glob, Braces bool
	// Home: the variable HOME stands before Text, which leaves it out as it does all variables.
	Home bool
}

// Redirect is a redirection that opens a file.
type Redirect struct {
	Target Word
	Write  bool // opened for writing; otherwise for reading
}

// Harmless reports a redirection to or from nowhere.
func (r *Redirect) Harmless() bool {
	return r.Target.Literal && string(r.Target.Text) == "/dev/null"
}

// Read takes a command line apart.
func (l *Line) Read(text []byte) {
	l.Commands, l.words, l.redirects, l.text = l.Commands[:0], l.words[:0], l.redirects[:0], l.text[:0]
	l.Plain, l.Complete, l.Excess, l.nested, l.unrolled = true, true, false, 0, 0
	l.read(text, parent{index: -1}, 0)
	l.finish()
}

// finish works out what the commands say about the line, and about each other.
func (l *Line) finish() {
	placed := 0
	for i := range l.Commands {
		c := &l.Commands[i]
		l.Plain = l.Plain && c.Plain
		if c.Puts() {
			placed += len(c.directories()) * len(c.Words)
		}
	}
	if placed > maxPlaced {
		l.Plain, l.Complete, l.Excess = false, false, true
	}
	l.Plain = l.Plain && l.Complete && len(l.Commands) > 0
	l.moved()
	l.fed()
}

// parent is what a text is unwrapped from.
type parent struct{ index, from, to int }

// maxDepth is how many wrappers are unwrapped from one another. What lies deeper is
// cut into pieces.
const maxDepth = 8

// maxNested bounds what is looked at inside other commands, in bytes of texts and in words:
// a line that nests more is suspect as it is.
const maxNested = 256 << 10

// spend reports whether there is enough left to look at so much more.
func (l *Line) spend(n int) bool {
	if l.nested += n; l.nested > maxNested {
		l.Plain, l.Complete, l.Excess = false, false, true
	}
	return !l.Excess
}

// read adds the commands of a text that is a command line by itself.
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

// fed marks the commands of a line in which xargs, or its like, turns printed text into
// words.
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

// MayBeOption reports a word that may become one that begins with a dash.
func (w *Word) MayBeOption() bool {
	return !w.Literal && len(w.Text) > 0 && bytes.IndexByte([]byte("*?$"), w.Text[0]) >= 0
}

// Program is the last component of the first word, nil if there is none.
func (c *Command) Program() []byte {
	if len(c.Words) == 0 {
		return nil
	}
	return Base(c.Words[0].Text)
}

// Base returns the last component of a program's path.
func Base(word []byte) []byte { return word[bytes.LastIndexAny(word, `/\`)+1:] }
