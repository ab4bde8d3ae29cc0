package effect

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Use is the way in which a command uses a path.
type Use uint8

// A path whose use is unknown is both Read and Written. Suspected marks the end of an option's word
// that is a path only if a letter of the word is an option with a value: restrictive rules consider
// it, permissive ones do not require it. Of a path that is Named only the name and its existence
// are shown.
const (
	Reads Use = 1 << iota
	Writes
	Suspected
	Named
)

// givesFile are options of scripted programs whose value, in the next word, is a file and no
// script.
var givesFile = programs.Words{"--exclude-from", "--ignore-file", "--path-to-ignore"}

// Certain reports whether all operands of a program are paths.
func Certain(program []byte) bool {
	name := string(program)
	return programs.Readers.Has(name) && !programs.Scripted.Has(name) || name == "tee" || name == "touch" || name == "mkdir" || name == "rm" || name == "rmdir"
}

// Paths calls yield for every word of the command that may name a file, and for the targets of its
// redirections (redirected), until yield returns false.
func Paths(c *shell.Command, yield func(path *shell.Word, use Use, redirected bool) bool) {
	for i := range c.Redirects {
		use := Reads
		if c.Redirects[i].Write {
			use = Writes
		}
		if !c.Redirects[i].Harmless() && !yield(&c.Redirects[i].Target, use, true) {
			return
		}
	}
	name := string(bytes.ToLower(c.Program()))
	if namesOnly(c) {
		each := yield
		yield = func(path *shell.Word, use Use, redirected bool) bool {
			if !redirected && written(path) {
				use = use&Suspected | Named
			}
			return each(path, use, redirected)
		}
	}
	if programs.Pathless.Has(name) && !c.Feeds || len(c.Words) == 0 {
		for i := range c.Words {
			if w := &c.Words[i]; c.Plain && w.Glob && !w.Literal && !yield(w, Reads, false) {
				return // the shell's matches are shown
			}
		}
		return
	}
	use := Reads | Writes
	if programs.Readers.Has(name) {
		use = Reads
	}
	if !Placed(c, yield) {
		return
	}
	skip, script := programs.Scripted.Has(name), false
	texts := textOptionsOf(name, c.Words)
	for i := range c.Words[1:] {
		w := &c.Words[i+1]
		text := w.Text
		if c.Own > 0 && i+1 >= c.Own {
			return // words of the command that it runs
		}
		switch {
		case len(text) == 0:
			skip = false // grep '' FILE
			continue
		case textValue(texts, c.Words, i+1), name == "find" && string(c.Words[i].Text) == "-perm", name == "gcloud" && bytes.HasPrefix(text, []byte("//")):
			continue
		case text[0] == '-':
			script = programs.Scripted.Has(name) && givesScript(name, text)
			skip = skip && !script
			if script && len(text) > 2 && !scriptPaths(name, part(w, 2, len(text)), yield) || !attached(name, w, yield) {
				return
			}
			if !delimits(name, text) && !optionPaths(w, use, yield) {
				return
			}
			continue
		case len(bytes.Trim(text, "/")) == 0 && len(c.Words[i].Text) == 2 && delimits(name, c.Words[i].Text):
			continue
		case skip && givesFile.Has(string(c.Words[i].Text)):
			if !yield(w, Reads, false) {
				return
			}
			continue
		case skip:
			skip = false
			if !scriptPaths(name, w, yield) {
				return
			}
			continue
		}
		if script {
			script = false
			if !scriptPaths(name, w, yield) {
				return
			}
		}
		one := use
		if programs.Copiers.Has(name) && i+2 < len(c.Words) {
			one = Reads
		}
		if name == "git" && hiddenGlob(text) { // git expands it with or without quotes
			w = &shell.Word{Text: text, Quoted: w.Quoted, Glob: true}
		}
		if name == "jq" && !scriptPaths(name, w, yield) { // after --arg NAME VALUE
			return
		}
		if !yield(w, one, false) {
			return
		}
		if dir := writtenDir(w); len(dir) > 0 && !yield(&shell.Word{Text: dir, Literal: true}, one, false) {
			return
		}
		if at := bytes.IndexByte(text, '='); at >= 0 && at+1 < len(text) { // of=FILE
			if !yield(part(w, at+1, len(text)), one, false) {
				return
			}
		}
		if !attached(name, w, yield) {
			return
		}
	}
}

// delimits reports whether an option takes a field separator: the slash of "cut -d/" is no
// directory.
func delimits(program string, option []byte) bool {
	if len(option) < 2 || option[0] != '-' || len(option) > 2 && len(bytes.Trim(option[2:], "/")) > 0 {
		return false
	}
	delimiter := programs.Of(program).Delimiter
	return delimiter != 0 && option[1] == delimiter
}

// writtenDir returns the directory before the first wildcard of a word, none for a word without
// wildcards.
func writtenDir(w *shell.Word) []byte {
	if !w.Glob || w.Literal {
		return nil
	}
	return w.Text[:max(0, bytes.LastIndexByte(w.Text[:max(0, bytes.IndexAny(w.Text, "*?["))], '/'))]
}

// optionPaths yields the paths that the word of an option may contain: its value, and the rest of a
// cluster of letters after each of them.
func optionPaths(w *shell.Word, use Use, yield func(path *shell.Word, use Use, redirected bool) bool) bool {
	text := w.Text
	if at := bytes.IndexByte(text, '='); at >= 0 && at+1 < len(text) {
		if !yield(part(w, at+1, len(text)), Reads|Writes, false) {
			return false
		}
	} else if len(text) > 2 && text[1] != '-' && bytes.ContainsAny(text, "./") { // -oFILE
		if !yield(part(w, 2, len(text)), Reads|Writes, false) {
			return false
		}
	}
	for at := 2; at < len(text) && at <= longestCluster && text[1] != '-' && text[at] != '='; at++ { // -nFILE, -rnfFILE
		if !yield(part(w, at, len(text)), use|Suspected, false) {
			return false
		}
	}
	return true
}

// Placed yields the files that a command writes if its last word, or the value of an option, is a
// directory: "cp x/app.toml conf" writes conf/app.toml. It reports whether yield always returned
// true.
func Placed(c *shell.Command, yield func(path *shell.Word, use Use, redirected bool) bool) bool {
	if !c.Puts() {
		return true
	}
	words := c.Words[1:]
	for _, dir := range c.Directories() {
		for _, w := range words {
			name := programs.Base(bytes.TrimRight(w.Text, "/"))
			if len(dir.Text) == 0 || len(name) == 0 || w.Text[0] == '-' {
				continue
			}
			text := append(append(bytes.Clone(dir.Text), '/'), name...)
			if !yield(&shell.Word{Text: text, Literal: w.Literal && dir.Literal, Glob: w.Glob || dir.Glob}, Writes|Suspected, false) {
				return false
			}
		}
	}
	return true
}

// hiddenGlob reports whether a path with wildcards has a component that begins with a dot.
func hiddenGlob(text []byte) bool {
	return bytes.ContainsAny(text, "*?[") && (len(text) > 1 && text[0] == '.' || bytes.Contains(text, []byte("/.")))
}

// part returns a part of a word.
func part(w *shell.Word, from, to int) *shell.Word {
	return &shell.Word{Text: w.Text[from:to], Literal: w.Literal, Quoted: w.Quoted, Glob: w.Glob}
}

// attached yields files that a program finds in a word: @FILE, NAME=@FILE;type=x, NAME=<FILE,FILE,
// and git's stored versions of a FILE, REVISION:FILE or :2:FILE.
func attached(program string, w *shell.Word, yield func(path *shell.Word, use Use, redirected bool) bool) bool {
	text := w.Text
	from := func(at int) bool {
		if at <= 0 || at >= len(text) {
			return true
		}
		part := part(w, at, len(text))
		if program == "git" && hiddenGlob(part.Text) {
			part.Literal, part.Glob = false, true
		}
		if !yield(part, Reads, false) {
			return false
		}
		if !bytes.ContainsAny(text[at:], ";,") {
			return true
		}
		for name := range bytes.FieldsFuncSeq(text[at:], func(r rune) bool { return r == ';' || r == ',' }) {
			if !yield(&shell.Word{Text: name, Literal: w.Literal, Quoted: w.Quoted, Glob: w.Glob}, Reads, false) {
				return false
			}
		}
		return true
	}
	switch {
	case program == "git":
		at := 0
		for range 3 {
			next := bytes.IndexByte(text[at:], ':')
			if next < 0 {
				break
			}
			if at += next + 1; !from(at) {
				return false
			}
		}
		if text[0] == ':' { // :(glob)FILE, :!FILE
			magic := 1 + len(text[1:]) - len(bytes.TrimLeft(text[1:], "!^/"))
			if end := bytes.IndexByte(text, ')'); end > 0 && len(text) > 1 && text[1] == '(' {
				magic = end + 1
			}
			if !from(magic) {
				return false
			}
		}
	case programs.Uploaders.Has(program):
		if !from(bytes.IndexByte(text, '@') + 1) {
			return false
		}
		if at := bytes.IndexByte(text, '='); at >= 0 && at+1 < len(text) && (text[at+1] == '@' || text[at+1] == '<') {
			return from(at + 2)
		}
	case text[0] == '@':
		return from(1)
	}
	return true
}

// longestCluster is the number of letters of a word that are read as options.
const longestCluster = 12

// givesScript reports whether an option gives the script or pattern, so that the first operand is
// already a file: separately, in a cluster, or with its value.
func givesScript(program string, word []byte) bool {
	if bytes.HasPrefix(word, []byte("--")) {
		option, _, _ := bytes.Cut(word[2:], []byte("="))
		for _, name := range []string{"regexp", "file", "expression", "from-file"} {
			if len(option) > 0 && bytes.HasPrefix([]byte(name), option) {
				return true
			}
		}
		return false
	}
	letters := "ef"
	if program == "jq" || program == "yq" {
		letters = "f" // -e is about the exit code
	}
	return bytes.ContainsAny(word, letters)
}
