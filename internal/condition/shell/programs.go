package shell

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// shell adds the command line of sh -c.
func (l *Line) shell(i, depth int) {
	c := l.Commands[i]
	line, input := false, false
	for at := 1; at < len(c.Words); at++ {
		w := c.Words[at]
		switch {
		case !w.Literal:
			l.unclear(i)
			if line {
				l.written(i, at, depth)
			}
			return
		case string(w.Text) == "--" || string(w.Text) == "-":
		case bytes.HasPrefix(w.Text, []byte("--")):
			if !bytes.Contains([]byte(" --login --norc --noprofile --posix --verbose --noediting "), append([]byte(" "), w.Text...)) {
				l.unclear(i)
				l.loosely(i, depth)
				return
			}
		case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+'):
			for _, f := range w.Text[1:] {
				switch {
				case f == 'c':
					line = true
				case f == 'C' && string(programs.Familiar(c.Program())) == "fish":
					l.unclear(i)
					l.loosely(i, depth)
					return
				case f == 's':
					input = true
				case f == 'o' || f == 'O':
					at++
				case bytes.IndexByte([]byte("abefhiklmnprtuvxBCEHPT"), f) < 0:
					l.unclear(i)
					l.loosely(i, depth)
					return
				}
			}
		default:
			if line {
				l.written(i, at, depth)
			} else if input {
				l.unclear(i)
			}
			return
		}
	}
	if !line {
		l.unclear(i) // it runs its input
	}
}

// find adds the commands of -exec and similar options.
func (l *Line) find(i, depth int) {
	c := l.Commands[i]
	for at := 1; at < len(c.Words); at++ {
		switch string(c.Words[at].Text) {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := at + 1
			for end < len(c.Words) && string(c.Words[end].Text) != ";" && !(string(c.Words[end].Text) == "+" && string(c.Words[end-1].Text) == "{}") {
				end++
			}
			if end == at+1 || end == len(c.Words) {
				l.unclear(i)
				if end > at+1 {
					l.tail(i, at+1, end, end, depth)
				}
				return
			}
			index := len(l.Commands)
			l.tail(i, at+1, end, end+1, depth)
			for j := index; j < len(l.Commands); j++ {
				words := l.Commands[j].Words
				if programs.Shells.Has(string(bytes.ToLower(l.Commands[j].Program()))) && HoldsFileName(words) || slices.ContainsFunc(words, partlyFileName) {
					l.unclear(j) // the name of a file becomes part of a command line, or letters of an option
				}
			}
			at = end
		}
	}
}

// HoldsFileName reports whether find replaces a part of some words by file names.
func HoldsFileName(words []Word) bool {
	for _, w := range words {
		if bytes.Contains(w.Text, []byte("{}")) {
			return true
		}
	}
	return false
}

// partlyFileName reports whether find replaces a part of an option by a file name.
func partlyFileName(w Word) bool {
	return len(w.Text) > 0 && w.Text[0] == '-' && bytes.Contains(w.Text, []byte("{}"))
}

// git adds the programs in git's own options.
func (l *Line) git(i, depth int) {
	c := l.Commands[i]
	for at := 1; at < len(c.Words); at++ {
		w := c.Words[at].Text
		switch {
		case len(w) == 0 || w[0] != '-':
			l.subcommand(i, at, depth)
			return
		case string(w) == "-c" || string(w) == "--config-env":
			l.Commands[i].Runs = true
			if at++; at < len(c.Words) {
				if _, value, ok := bytes.Cut(c.Words[at].Text, []byte("=")); ok && len(value) > 0 {
					l.suspect(i, at, value)
				}
			}
		case bytes.HasPrefix(w, []byte("--exec-path=")), bytes.HasPrefix(w, []byte("--config-env=")):
			l.Commands[i].Runs = true
		case string(w) == "-C" || string(w) == "--git-dir" || string(w) == "--work-tree" || string(w) == "--namespace":
			at++
		}
	}
}

// subcommand adds the commands that git runs for one of its subcommands: values of options, and the
// words after "bisect run" and "submodule foreach".
func (l *Line) subcommand(i, at, depth int) {
	words := l.Commands[i].Words
	name := "git-" + string(words[at].Text)
	l.flags(i, at, name, depth)
	for k := at + 1; k < len(words) && (name == "git-bisect" || name == "git-submodule"); k++ {
		switch text := string(words[k].Text); {
		case (text == "run" || text == "foreach") && k+1 < len(words):
			l.Commands[i].Runs = true
			for k++; k+1 < len(words) && len(words[k].Text) > 0 && words[k].Text[0] == '-'; k++ {
			}
			l.suspect(i, k, words[k].Text)
			l.tail(i, k, len(words), len(words), depth)
			return
		case len(text) > 0 && text[0] != '-':
			return
		}
	}
}

// input reports whether a command reads the output of another one, or a file.
func (l *Line) input(i int) bool {
	for ; i >= 0; i = l.Commands[i].Parent {
		if l.Commands[i].Stdin() {
			return true
		}
	}
	return false
}

// interpreter marks code in another language, which is not analysed: in an option, or in the input.
func (l *Line) interpreter(i int, flags string) {
	words := l.Commands[i].Words[1:]
	for k, w := range words {
		if string(w.Text) == "-" {
			l.unclear(i)
			return
		}
		if len(w.Text) == 0 || w.Text[0] != '-' {
			return
		}
		if k == len(words)-1 && l.input(i) {
			l.unclear(i)
		}
		if len(w.Text) > 1 && w.Text[1] != '-' && bytes.ContainsAny(w.Text[1:], flags) || bytes.HasPrefix(w.Text, []byte("--e")) || bytes.HasPrefix(w.Text, []byte("--p")) {
			l.Commands[i].Plain = false
			return
		}
	}
	if len(words) == 0 {
		l.unclear(i)
	}
}

// loosely reads every word of a wrapper that may be a command line.
func (l *Line) loosely(i, depth int) {
	c := l.Commands[i]
	if len(c.Words) == 1 {
		return
	}
	for at := 1; at < len(c.Words); at++ {
		if bytes.ContainsAny(c.Words[at].Text, " \t\n;&|<>") {
			before := len(l.Commands)
			l.read(c.Words[at].Text, parent{i, at, at + 1}, depth)
			for j := before; j < len(l.Commands); j++ {
				l.Commands[j].Plain = false
			}
		}
	}
	l.unclear(i)
}

// flags searches for options that run code after the word that names the program, and reads their
// values as command lines.
func (l *Line) flags(i, from int, name string, depth int) {
	list := programs.Of(name).Code
	if list == "" {
		return
	}
	c := l.Commands[i]
	if programs.Archivers.Has(name) && len(c.Words) > 1 && bundle(c.Words[1].Text) {
		l.Commands[i].Runs = true // tar xfI: the values follow in other words
		for at := 2; at < len(c.Words); at++ {
			l.suspect(i, at, c.Words[at].Text)
		}
	}
	for at := from + 1; at < len(c.Words); at++ {
		if !isOption(c.Words[at].Text) {
			continue
		}
		for option := range strings.FieldsSeq(list) {
			value, attached, ok := programs.CodeFlag(option).Match(c.Words[at].Text)
			if !ok {
				continue
			}
			l.Commands[i].Runs = true
			if !attached && programs.Tails.Has(name) && at+1 < len(c.Words) {
				l.tail(i, at+1, len(c.Words), len(c.Words), depth)
				return
			}
			if !attached && at+1 < len(c.Words) {
				value = c.Words[at+1].Text
			}
			if len(value) > 0 {
				l.suspect(i, at, value)
			}
			break
		}
	}
}

// isOption reports whether a word may be an option that runs code.
func isOption(word []byte) bool {
	return len(word) > 0 && (word[0] == '-' || word[0] == '+' || bytes.IndexByte(word, '=') > 0)
}

// bundle reports whether tar's letters without a dash contain one that names a program.
func bundle(word []byte) bool {
	return len(word) > 0 && word[0] != '-' && bytes.IndexAny(word, "IF") > 0 && !bytes.ContainsAny(word, "/._")
}
