package effect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Sweep is a directory whose files a command shows or copies, at any depth, without naming them.
type Sweep struct {
	// Dir is the directory as written; an empty text is the current one.
	Dir shell.Word
	// Anywhere: the names of the files come from the command's input; they may be anywhere.
	Anywhere bool
	// Hidden: includes files and directories whose names begin with a dot.
	Hidden bool
	// Names are wildcards for the names of the files; none means all files.
	Names []string
	// Files: Dir is a word with wildcards, and its matches are the files.
	Files bool
	// Moved: an earlier command changes the directory; Into and Sure as in [Command].
	Moved bool
	Into  string
	Sure  bool
	// Renames: the files are not printed, but get additional or new paths through another
	// directory; below it their names are the same.
	Renames bool
	// Single: it may also be a single file.
	Single bool
	// Repository: the complete repository around Dir is read, not only the part below Dir. It is
	// never Sure.
	Repository bool

	// Disk: the files are those below the directory on disk, and the targets of links among them,
	// but no linked directories. Stored: without git's own files.
	Disk, Stored bool
	// Given: xargs gives the names of the files to a program, see [Line.Given]. Counts: the program
	// shows only their sizes.
	Given, Counts bool

	away bool // an option of the command itself may change it
}

// Sweeps calls yield for the directories that the line reads or renames completely, until yield
// returns false: recursive searches, copies and archives, files that find or xargs gives to
// programs that show them, and complete trees that git has stored. git show and git diff are not
// among them, since they show one change.
func Sweeps(l *shell.Line, yield func(s *Sweep) bool) {
	disk := keepsFiles(l)
	for i := range l.Commands {
		c := &l.Commands[i]
		from := func(s *Sweep) bool {
			switch {
			case s.away, s.Given:
			case c.Located && c.Moved && !c.Sure && !s.Repository:
				s.Into, s.Sure = c.Dir, true
			default:
				s.Into, s.Sure = c.Into, c.Sure && !s.Repository
			}
			return yield(s)
		}
		if len(c.Words) > 0 && (l.Plain && !spreads(c, from, disk) || !sweep(l, i, from, disk)) {
			return
		}
	}
}

// spreads yields the matches of the wildcards of a command's words, unless it shows only names.
func spreads(c *shell.Command, yield func(*Sweep) bool, disk bool) bool {
	if programs.MetadataOnly.Has(string(c.Program())) {
		return true
	}
	for _, w := range c.Words {
		if w.Glob && !w.Literal && !yield(&Sweep{Dir: w, Files: true, Moved: c.Moved, Disk: disk}) {
			return false
		}
	}
	return true
}

func sweep(l *shell.Line, i int, yield func(*Sweep) bool, disk bool) bool {
	c := &l.Commands[i]
	name := string(bytes.ToLower(c.Program()))
	s := sweeper{command: c, yield: yield}
	if disk && s.onDisk(name) {
		s.yield = func(w *Sweep) bool {
			w.Disk, w.Stored = true, name == "git"
			return yield(w)
		}
	}
	if given := given(l, i, disk); given != nil && (!programs.MetadataOnly.Has(name) || programs.Listing.Has(name) && !onlyNames(l, i)) {
		return !slices.ContainsFunc(given, func(w Sweep) bool { return !yield(&w) })
	}
	if c.Open && (!programs.MetadataOnly.Has(name) || programs.Listing.Has(name) && !onlyNames(l, i)) {
		return yield(&Sweep{Anywhere: true, Hidden: true, Moved: c.Moved})
	}
	p := programs.Of(name)
	if p.Sweep == 0 && p.Lists == nil || p.Deep != nil && !s.any(p.Deep) || p.Sweep == programs.SweepArchive && !s.archives() {
		return true
	}
	if p.Lists != nil && s.any(p.Lists) && !s.yield(&Sweep{Anywhere: true, Hidden: true, Moved: c.Moved}) {
		return false
	}
	switch p.Sweep {
	case programs.SweepSearch:
		var names []string
		if p.Deep != nil && name != "zgrep" {
			names = s.included()
		}
		return s.search(programs.GrepValues, true, false, names)
	case programs.SweepCode:
		return s.code(name)
	case programs.SweepFind:
		return !shown(l, i) || s.roots(s.found())
	case programs.SweepListed:
		return s.yield(&Sweep{Hidden: true, Moved: c.Moved}) && s.operands(false)
	case programs.SweepGit:
		return s.git()
	case programs.SweepOperands:
		return s.lists7z(name) || s.operands(false)
	case programs.SweepArchive:
		return s.operands(false)
	case programs.SweepCopy:
		return s.renames(c.Words[1:], false)
	case programs.SweepRename:
		return s.renames(c.Words[1:], true)
	case programs.SweepLink:
		return s.renames(c.Words[1:], true) && s.links()
	case programs.SweepTransfer:
		return s.operands(!s.cluster("t", "") && !s.long("target-directory"))
	case programs.SweepDiff:
		return !s.compares() || s.operands(false)
	case programs.SweepAnywhere:
		return s.yield(&Sweep{Anywhere: true, Hidden: true, Moved: c.Moved})
	}
	return true
}

// code yields the files that rg and similar programs search.
func (s *sweeper) code(name string) bool {
	if s.has("--files", "--type-list", "--version", "--help", "-V", "-h") {
		return true
	}
	hidden, input := s.searchesHidden(name), s.command.Stdin()
	switch {
	case s.followsLinks(name):
		hidden = true
	case hidden && name == "rg":
		names, only := s.globbed()
		return s.search(programs.SearchValues, !only || names != nil, input, names)
	}
	return s.search(programs.SearchValues, hidden, input, nil)
}

// compares reports whether a diff shows files of directories: all of them, those that are on one
// side only, or those with the same name on both.
func (s *sweeper) compares() bool {
	const values = "CUFILWxXSDy"
	if s.cluster("rN", values) || s.long("recursive", "new-file", "unidirectional-new-file") {
		return true
	}
	operands, likely := 0, 0
	for _, w := range s.command.Words[1:] {
		if len(w.Text) == 0 || w.Text[0] == '-' && len(w.Text) > 1 {
			continue
		}
		operands++
		switch last := programs.Base(w.Text); {
		case len(last) == 0, string(last) == ".", string(last) == "..", string(last) == "~":
			return true
		case bytes.IndexByte(last[1:], '.') < 0:
			likely++ // a name without an extension
		}
	}
	return operands > 1 && likely == operands
}

// shown reports whether find gives files to a program that shows or copies them.
func shown(l *shell.Line, find int) bool {
	for k := find + 1; k < l.Commands[find].End && k < len(l.Commands); k++ {
		c := &l.Commands[k]
		if len(c.Words) > 0 && shell.HoldsFileName(c.Words) && !programs.MetadataOnly.Has(string(bytes.ToLower(c.Program()))) {
			return true
		}
	}
	return false
}

// sweeper analyses the words of one command.
type sweeper struct {
	command *shell.Command
	yield   func(*Sweep) bool
}

// Has reports whether one of some options is a word of the command.
func (s *sweeper) has(options ...string) bool {
	for _, w := range s.command.Words[1:] {
		for _, o := range options {
			if string(w.Text) == o {
				return true
			}
		}
	}
	return false
}

// cluster reports whether one of some letters is among the options of one letter. After a letter of
// values the rest of the word is its value.
func (s *sweeper) cluster(letters, values string) bool {
	for _, w := range s.command.Words[1:] {
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		for _, c := range w.Text[1:] {
			if strings.IndexByte(letters, c) >= 0 {
				return true
			}
			if strings.IndexByte(values, c) >= 0 {
				break
			}
		}
	}
	return false
}

// long reports whether the command has one of some long options, also abbreviated to two or more
// letters.
func (s *sweeper) long(names ...string) bool {
	for _, w := range s.command.Words[1:] {
		text, ok := bytes.CutPrefix(w.Text, []byte("--"))
		option, _, _ := bytes.Cut(text, []byte("="))
		for _, n := range names {
			if ok && len(option) > 1 && strings.HasPrefix(n, string(option)) {
				return true
			}
		}
	}
	return false
}

// operands yields the words that are no options, including values of options; the current directory
// if there are none. The last one of several may be the target.
func (s *sweeper) operands(target bool) bool {
	c := s.command
	all := operandsOf(c.Words[1:])
	if target && len(all) > 1 {
		all = all[:len(all)-1]
	}
	for _, w := range all {
		if !s.yield(&Sweep{Dir: *w, Hidden: true, Moved: c.Moved}) {
			return false
		}
	}
	return len(all) > 0 || s.yield(&Sweep{Hidden: true, Moved: c.Moved})
}

// roots yields the directories that find starts from, limited to files of some names.
func (s *sweeper) roots(names []string) bool {
	c, found := s.command, false
	for i := range c.Words[1:] {
		w := &c.Words[i+1]
		switch text := string(w.Text); {
		case text == "-H" || text == "-L" || text == "-P" || strings.HasPrefix(text, "-O"):
			continue
		case strings.HasPrefix(text, "-files0-from"):
			return s.yield(&Sweep{Anywhere: true, Hidden: true, Moved: c.Moved})
		case text == "" || text[0] == '-' || text == "(" || text == "!":
			return found || s.yield((&Sweep{Hidden: true, Moved: c.Moved}).named(names))
		}
		found = true
		if !s.yield((&Sweep{Dir: *w, Hidden: true, Moved: c.Moved}).named(names)) {
			return false
		}
	}
	return found || s.yield((&Sweep{Hidden: true, Moved: c.Moved}).named(names))
}

// archives reports whether tar writes an archive.
func (s *sweeper) archives() bool {
	if words := s.command.Words; len(words) > 1 && len(words[1].Text) > 0 && words[1].Text[0] != '-' {
		return s.bundle("cru")
	}
	return s.cluster("cru", "fCTXbKNVFIgL") || s.long("create", "append", "update", "catenate", "concatenate")
}

// lists7z reports whether 7z lists or tests an archive, which reads no directories.
func (s *sweeper) lists7z(name string) bool {
	words := s.command.Words
	if !strings.HasPrefix(name, "7z") || len(words) < 2 {
		return false
	}
	return slices.Contains([]string{"l", "t", "i", "--help"}, string(words[1].Text))
}

// bundle reports whether one of some letters is among those of tar without a dash.
func (s *sweeper) bundle(letters string) bool {
	words := s.command.Words
	return len(words) > 1 && len(words[1].Text) > 0 && words[1].Text[0] != '-' &&
		bytes.ContainsAny(words[1].Text, letters) && !bytes.ContainsAny(words[1].Text, "/.")
}
