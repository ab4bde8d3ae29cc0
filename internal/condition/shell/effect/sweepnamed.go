package effect

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Searches that select their files by a wildcard: grep --include='*.go', rg -g '*.go', find -name
// '*.go', git grep -- '*.go'.

// sources are extensions of programs and of texts about them. A search of such files is not a
// search of hidden ones, although it reads them: secrets are not kept in .env.go.
var sources = programs.Words{
	"go", "py", "pyi", "rs", "java", "kt", "scala", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "rb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue",
	"svelte", "css", "scss", "less", "html", "md", "mdx", "rst", "proto", "graphql", "hs", "ml", "ex", "exs", "erl", "clj", "dart", "lua", "zig",
}

// named limits the swept files to some names; nil means all.
func (s *Sweep) named(names []string) *Sweep {
	if len(names) == 0 {
		return s
	}
	s.Names = names
	for _, n := range names {
		if !sources.Has(n[strings.LastIndexByte(n, '.')+1:]) {
			return s
		}
	}
	s.Hidden = false
	return s
}

// nameGlob returns a wildcard for the names of files, nil if the word is more.
func nameGlob(w *shell.Word) []string {
	text := string(w.Text)
	before, rest, braces := strings.Cut(text, "{")
	inner, after, closed := strings.Cut(rest, "}")
	list := []string{text}
	if braces {
		list = nil
		for one := range strings.SplitSeq(inner, ",") {
			list = append(list, before+one+after)
		}
	}
	if !w.Literal || braces != closed {
		return nil
	}
	for _, g := range list {
		if g == "" || strings.IndexByte(g, '.') < 0 {
			return nil
		}
		for i := range len(g) {
			if c := g[i]; c != '*' && c != '?' && (!shell.PlainBytes[c] || c == '/') {
				return nil
			}
		}
	}
	return list
}

// sourceTypes are types of rg that select only names in [sources]. Files of a selected type are
// searched even if they are hidden; those of other types may be .env.
var sourceTypes = programs.Words{
	"go", "py", "python", "rust", "js", "ts", "typescript", "java", "c", "cpp", "h", "md", "markdown", "html", "css", "kotlin", "swift", "csharp", "vue", "svelte", "scala",
	"lua", "zig", "proto", "haskell", "elixir", "erlang", "dart",
}

// Option is an option of a command, with its value if it has one.
type option struct {
	name  string // one letter, or a long name without dashes
	value *shell.Word
	next  bool // the value is the next word
}

// Options returns the options of a command up to "--". Letters and known long names may have
// values; a value is no option.
func (s *sweeper) options(letters string) (list []option) {
	words := s.command.Words
	for i := 1; i < len(words); i++ {
		w := &words[i]
		if string(w.Text) == "--" {
			break
		}
		if len(w.Text) < 2 || w.Text[0] != '-' {
			continue
		}
		next := func() *shell.Word {
			if i++; i < len(words) {
				return &words[i]
			}
			return &shell.Word{}
		}
		if name, long := bytes.CutPrefix(w.Text, []byte("--")); long {
			name, value, attached := bytes.Cut(name, []byte("="))
			o := option{name: string(name)}
			switch {
			case attached:
				o.value = &shell.Word{Text: value, Literal: w.Literal}
			case takes(w.Text, letters):
				o.value, o.next = next(), true
			}
			list = append(list, o)
			continue
		}
		for k := 1; k < len(w.Text); k++ {
			o := option{name: string(w.Text[k : k+1])}
			if strings.IndexByte(letters, w.Text[k]) >= 0 {
				if o.value = part(w, k+1, len(w.Text)); len(o.value.Text) == 0 {
					o.value = next()
				}
				k = len(w.Text)
			}
			list = append(list, o)
		}
	}
	return list
}

// plainOptions are long options of grep and rg that do not affect which files are read.
var plainOptions = programs.Words{
	"recursive", "ignore-case", "line-number", "with-filename", "no-filename", "files-with-matches", "files-without-match", "count", "word-regexp", "extended-regexp",
	"fixed-strings", "perl-regexp", "invert-match", "only-matching", "no-messages", "color", "colour", "regexp", "context", "after-context", "before-context", "max-count",
	"exclude-dir", "type", "type-not", "files", "heading", "no-heading", "smart-case", "case-sensitive", "multiline", "trim", "sort", "stats", "json", "column", "pretty",
	"line-regexp", "quiet", "text", "null", "include", "exclude", "glob", "max-columns", "max-depth", "replace", "threads",
}

// included returns the names that grep searches by --include, nil for all. If --exclude comes
// first, grep searches files that no option names.
func (s *sweeper) included() (names []string) {
	for _, o := range s.options(programs.GrepValues) {
		switch {
		case o.name == "include":
			list := nameGlob(o.value)
			if list == nil || strings.ContainsAny(string(o.value.Text), "{}") {
				return nil
			}
			names = append(names, list...)
		case o.name == "exclude" && names == nil, len(o.name) > 1 && !plainOptions.Has(o.name):
			return nil
		case o.next && o.name == "context": // it has no value in some versions
			return nil
		}
	}
	return names
}

// globbed returns the names that rg searches by its globs, nil for all; only is set if no other
// option makes it search hidden files. Globs with ! exclude files.
func (s *sweeper) globbed() (names []string, only bool) {
	only = true
	for _, o := range s.options(programs.SearchValues) {
		switch {
		case o.name == "g" || o.name == "glob":
			if o.value == nil || !o.value.Literal || len(o.value.Text) == 0 {
				return nil, false
			}
			if rest, excludes := bytes.CutPrefix(o.value.Text, []byte("!")); excludes && len(rest) > 0 && rest[0] != '!' {
				continue
			}
			list := nameGlob(&shell.Word{Text: programs.Base(o.value.Text), Literal: true})
			if list == nil || bytes.IndexByte(o.value.Text, '\\') >= 0 || bytes.LastIndexByte(o.value.Text, '{') < bytes.LastIndexByte(o.value.Text, '/') && bytes.IndexByte(o.value.Text, '{') >= 0 {
				return nil, false
			}
			names = append(names, list...)
		case o.name == "hidden", o.name == ".", o.name == "u":
			only = false
		case o.name == "t" || o.name == "type":
			only = only && o.value != nil && sourceTypes.Has(string(o.value.Text))
		case len(o.name) > 1 && !plainOptions.Has(o.name): // possibly another kind of glob
			return nil, false
		}
	}
	return names, only
}

// found returns the names of the files that find gives to commands, nil for all: each command must
// follow the test of a name that every file has to pass.
func (s *sweeper) found() (names []string) {
	words := s.command.Words
	at := 1
	for at < len(words) && len(words[at].Text) > 0 && words[at].Text[0] != '-' && words[at].Text[0] != '(' && words[at].Text[0] != '!' {
		at++
	}
	not := false
	for ; at < len(words); at++ {
		switch text := string(words[at].Text); text {
		case "-not", "!":
			not = !not
			continue
		case "-name", "-iname", "-path", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-newer":
			if at++; at == len(words) || !words[at].Literal {
				return nil
			}
			if list := nameGlob(&words[at]); (text == "-name" || text == "-iname") && !not && list != nil && !strings.ContainsAny(string(words[at].Text), "{}") {
				names = list
			}
		case "-exec", "-execdir":
			for end := at + 1; end < len(words); end++ { // the words of the command
				if t := string(words[end].Text); t == ";" || t == "+" && string(words[end-1].Text) == "{}" {
					at = end
					break
				} else if end == len(words)-1 || strings.Contains(t, "{}") && t != "{}" {
					return nil
				}
			}
			if names == nil {
				return nil
			}
		case "-print", "-and", "-a":
		default:
			return nil
		}
		not = false
	}
	return names
}
