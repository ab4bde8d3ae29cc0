package commandline

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// criticalDirs matches the directories that must not be removed: the root of the file system, the
// directories of the system in it, the home directory and those above it.
type criticalDirs struct{ env condition.Env }

func criticalDirsOf(env condition.Env) criticalDirs {
	env = pathform.CommandEnv(env)
	env.Links = nil // removing a link removes only the link
	return criticalDirs{env}
}

var systemDirs = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
	"/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/private/etc", "/private/var", "/mnt", "/media",
}

// deepest is the number of ".." that may lead to the root from anywhere.
const deepest = 3

// homes are the spellings of an unknown home directory.
var homes = []string{"~", "$HOME", "${HOME}"}

// Names reports whether a reading of a word is one of the directories, or everything in one. dirs
// are directories, as written, in which a relative one may begin.
func (v *criticalDirs) Names(w *shell.Word, dirs []string) bool {
	named, _ := v.reads(w, dirs)
	return named
}

// mayName is names, but true for a word with more readings than the limit.
func (v *criticalDirs) mayName(w *shell.Word, dirs []string) bool {
	named, all := v.reads(w, dirs)
	return named || !all
}

// reads is names; all is false if there are more readings.
func (v *criticalDirs) reads(w *shell.Word, dirs []string) (named, all bool) {
	text := string(w.Text)
	if w.Home {
		text = "~" + text
	}
	if text == "" {
		return false, true
	}
	if len(text) > pathform.MaxPath {
		return false, w.Literal // a shell may expand a long word to a short path
	}
	if named, all = v.spelt(text, !w.Literal); named || text[0] == '/' || text[0] == '~' || text[0] == '$' {
		return named, all
	}
	for _, dir := range dirs {
		if len(dir)+len(text) >= pathform.MaxPath {
			all = all && w.Literal
			continue
		}
		named, complete := v.spelt(strings.TrimSuffix(dir, "/")+"/"+text, true)
		if named {
			return true, true
		}
		all = all && complete
	}
	return false, all
}

func (v *criticalDirs) spelt(text string, expands bool) (named, all bool) {
	if dir, last := withoutLast(text); last && expands {
		if named, _ = v.named(dir, true); named {
			return true, true
		}
	}
	return v.named(text, expands)
}

// withoutLast returns the directory of a text whose last component matches everything.
func withoutLast(text string) (dir string, all bool) {
	at := strings.LastIndexByte(text, '/')
	last := text[at+1:]
	if at < 0 || last == "" || strings.Trim(last, "*?.![]{},") != "" || !strings.ContainsAny(last, "*?") {
		return "", false
	}
	return text[:at+1], true
}

func (v *criticalDirs) named(text string, expands bool) (named, all bool) {
	if clean := path.Clean(text); expands && (slices.Contains(homes, clean) || clean[0] == '~' && !strings.Contains(clean, "/")) {
		return true, true
	}
	list, all := pathform.Readings(text, v.env, expands)
	for _, r := range list {
		name := r.Path
		if v.env.Root == "" && name == "/" && r.Steps&pathform.StepRoot != 0 && strings.Count(text, "..") < deepest {
			continue // the start is unknown; most projects are deeper
		}
		if !strings.HasPrefix(name, "/") {
			if v.env.Root == "" || pathname.Climbs([]byte(name)) {
				continue
			}
			name = path.Join(v.env.Root, name)
		}
		if r.Glob && v.begins(name) || !r.Glob && v.lost(name) {
			return true, true
		}
	}
	return false, all
}

func (v *criticalDirs) lost(name string) bool {
	name = spelling.Fold(name)
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return spelling.Fold(dir) == name }) || v.env.Home != "" && (spelling.Fold(v.env.Home) == name || strings.HasPrefix(spelling.Fold(v.env.Home), name+"/"))
}

// begins reports whether wildcards in the first component may match one of the directories.
func (v *criticalDirs) begins(name string) bool {
	first := spelling.Fold(name[1:])
	if strings.Contains(first, "/") {
		return false
	}
	written := first[:strings.IndexAny(first+"*", "*?[{")]
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return dir != "/" && strings.HasPrefix(spelling.Fold(dir[1:]), written) })
}
