package effect

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// git yields the trees that git shows or packs from its store, and directories that it renames, or
// compares without a repository.
func (s *sweeper) git() bool {
	c := s.command
	at := 1
	for at < len(c.Words) && len(c.Words[at].Text) > 0 && c.Words[at].Text[0] == '-' {
		if o := string(c.Words[at].Text); o == "-C" || o == "-c" || o == "--git-dir" || o == "--work-tree" || o == "--namespace" {
			at++
		}
		at++
	}
	if at >= len(c.Words) {
		return true
	}
	args := c.Words[at+1:]
	switch string(c.Words[at].Text) {
	case "diff":
		if !outside(args) {
			return true
		}
		return s.operands(false) // of both directories, and of the word "diff"
	case "log", "whatchanged", "reflog", "stash":
		if !s.has("--stdin") && (!s.patches(args) || oneChange(args)) {
			return true
		}
	case "add", "stage":
		return s.adds(args)
	case "show":
		if !several(args) && !s.has("--stdin") {
			return true
		}
	case "diff-tree", "rev-list", "cat-file":
		if !s.has("--stdin", "--batch", "--batch-command") && !s.long("batch=") {
			return true
		}
	case "mv":
		return s.renames(args, true)
	case "grep", "archive":
	default:
		return true
	}
	for i, w := range args {
		if string(w.Text) == "--" && i+1 < len(args) {
			return s.pathspecs(args[i+1:])
		}
	}
	return s.yield(&Sweep{Hidden: true, Repository: true, Moved: c.Moved || at > 1, away: at > 1})
}

// pathspecs yields the directories that git's own patterns match: those with wildcards or magic may
// match anything, except "*.go" and "src/*.go".
func (s *sweeper) pathspecs(specs []shell.Word) bool {
	for _, w := range specs {
		magic := len(w.Text) > 0 && (w.Text[0] == ':' || bytes.ContainsAny(w.Text, `*?[\`))
		var names []string
		if name := programs.Base(w.Text); magic && len(name) > 1 && name[0] == '*' && bytes.IndexAny(w.Text, `*?[\:`) == len(w.Text)-len(name) {
			if names = nameGlob(&shell.Word{Text: name, Literal: true}); bytes.ContainsAny(name[1:], "*?{}") {
				names = nil
			}
		}
		if magic {
			w = shell.Word{}
		}
		if !s.yield((&Sweep{Dir: w, Hidden: true, Repository: magic, Moved: s.command.Moved}).named(names)) {
			return false
		}
	}
	return true
}

// adds yields the files that git add stores without being given their names, so that git diff can
// show them: all files, or those of directories. A name with an extension is taken for that of a
// file.
func (s *sweeper) adds(args []shell.Word) bool {
	c := s.command
	all := s.cluster("A", "") || s.long("all", "no-ignore-removal", "pathspec-from-file")
	plain := false // after "--"
	for _, w := range args {
		switch text := string(w.Text); {
		case plain:
		case text == "--":
			plain = true
			continue
		case text == "-u" || text == "--update": // of files that git has stored before
			return true
		case len(text) > 0 && text[0] == '-':
			continue
		}
		name := programs.Base(w.Text)
		if file := len(name) > 1 && bytes.IndexByte(name[1:], '.') >= 0 && name[len(name)-1] != '.' && !bytes.ContainsAny(w.Text, `*?[\:`); file && !all {
			continue
		}
		all = true
		break
	}
	return !all || s.yield(&Sweep{Hidden: true, Repository: true, Moved: c.Moved || len(c.Words) > len(args)+2, away: len(c.Words) > len(args)+2})
}

// oneChange reports whether options of git log limit it to one change.
func oneChange(args []shell.Word) bool {
	limits, ones := 0, 0
	for i, w := range args {
		text := string(w.Text)
		switch {
		case text == "--":
			return limits == 1 && ones == 1
		case text == "-1", text == "-n1", text == "--max-count=1", text == "-n" && i+1 < len(args) && string(args[i+1].Text) == "1":
			limits, ones = limits+1, ones+1
		case len(text) > 1 && text[0] == '-' && (shell.IsNumber(w.Text[1:]) || text[1] == 'n' || strings.HasPrefix(text, "--m") || strings.HasPrefix(text, "--no-m")):
			limits++
		}
	}
	return limits == 1 && ones == 1
}

// patchOptions are the long options that make git log show changes.
var patchOptions = []string{"patch", "patch-with-raw", "patch-with-stat", "unified", "binary", "remerge-diff", "diff-merges", "dd", "cc"}

// patches reports whether options make git log show changes, also in a cluster or abbreviated.
func (s *sweeper) patches(args []shell.Word) bool {
	for _, w := range args {
		text := string(w.Text)
		if text == "--" {
			return false
		}
		if name, long := strings.CutPrefix(text, "--"); long {
			name, _, _ = strings.Cut(name, "=")
			for _, o := range patchOptions {
				if len(name) > 1 && strings.HasPrefix(o, name) {
					return true
				}
			}
			continue
		}
		if len(text) < 2 || text[0] != '-' {
			continue
		}
		letters := text[1:]
		if value := strings.IndexAny(letters, "SGOnl"); value >= 0 {
			letters = letters[:value]
		}
		if strings.ContainsAny(letters, "puUcL") {
			return true
		}
	}
	return false
}

// several reports whether arguments of git show name more than one change.
func several(args []shell.Word) bool {
	for _, w := range args {
		text := string(w.Text)
		switch {
		case text == "--":
			return false
		case strings.Contains(text, ".."), text == "--all", text == "--reflog", text == "-g", text == "--walk-reflogs",
			strings.HasPrefix(text, "--branches"), strings.HasPrefix(text, "--tags"), strings.HasPrefix(text, "--remotes"), strings.HasPrefix(text, "--glob"):
			return true
		}
	}
	return false
}

// outside reports whether arguments of git diff compare files on the disk, including complete
// directories. git does so by itself if one of them is not in the repository.
func outside(args []shell.Word) bool {
	for _, w := range args {
		switch text := string(w.Text); {
		case strings.HasPrefix(text, "--no-ind"), text == "..", strings.HasPrefix(text, "../"), strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"):
			return true
		}
	}
	return false
}
