package shell

import (
	"bytes"
	"strings"
)

// git yields the trees of which git shows or packs what it has stored, and directories
// that it renames, or compares without a repository.
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
		if !s.patches(args) && !s.has("--stdin") {
			return true
		}
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

// pathspecs yields the directories that git's own patterns name: those with wildcards or
// magic may mean anything.
func (s *sweeper) pathspecs(specs []Word) bool {
	for _, w := range specs {
		magic := len(w.Text) > 0 && (w.Text[0] == ':' || bytes.ContainsAny(w.Text, `*?[\`))
		if magic {
			w = Word{}
		}
		if !s.yield(&Sweep{Dir: w, Hidden: true, Repository: magic, Moved: s.command.Moved}) {
			return false
		}
	}
	return true
}

// patchOptions are the long options that make git log show what changed.
var patchOptions = []string{"patch", "patch-with-raw", "patch-with-stat", "unified", "binary", "remerge-diff", "diff-merges", "dd", "cc"}

// patches reports options with which git log shows what changed, also in a cluster or
// abbreviated.
func (s *sweeper) patches(args []Word) bool {
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

// several reports arguments of git show that name more than one change.
func several(args []Word) bool {
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

// outside reports arguments of git diff that compare files as they lie on the disk, whole
// directories too: git does so by itself where one of them is not in the repository.
func outside(args []Word) bool {
	for _, w := range args {
		switch text := string(w.Text); {
		case strings.HasPrefix(text, "--no-ind"), text == "..", strings.HasPrefix(text, "../"), strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"):
			return true
		}
	}
	return false
}
