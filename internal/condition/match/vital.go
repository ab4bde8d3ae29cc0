package match

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// vital knows the directories without which a machine, or its user, is lost: the root of the
// file system, the directories of the system in it, the home and what stands above it.
type vital struct{ env Env }

func vitalOf(env Env) vital {
	env = env.ofCommands()
	env.Links = nil // who removes a link removes nothing else
	return vital{env}
}

var systemDirs = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var",
	"/Users", "/System", "/Library", "/Applications", "/Volumes", "/private", "/private/etc", "/private/var", "/mnt", "/media",
}

// deepest is how often a path climbs that leads to the root from anywhere, as far as is likely.
const deepest = 3

// homes are the spellings of a home of which nobody says where it is.
var homes = []string{"~", "$HOME", "${HOME}"}

// names reports that a word names, in one of its readings, one of the directories, or all that
// lies in one. dirs are directories, as they are written, in which a relative one may begin.
func (v *vital) names(w *shell.Word, dirs []string) bool {
	named, _ := v.reads(w, dirs)
	return named
}

// mayName is names, and true of a word with more readings than are listed.
func (v *vital) mayName(w *shell.Word, dirs []string) bool {
	named, all := v.reads(w, dirs)
	return named || !all
}

// reads is names; all is false if there are more readings.
func (v *vital) reads(w *shell.Word, dirs []string) (named, all bool) {
	text := string(w.Text)
	if w.Home {
		text = "~" + text
	}
	if text == "" {
		return false, true
	}
	if len(text) > maxPath {
		return false, w.Literal // a shell may make a short path of a long word
	}
	if named, all = v.spelt(text, !w.Literal); named || text[0] == '/' || text[0] == '~' || text[0] == '$' {
		return named, all
	}
	for _, dir := range dirs {
		if len(dir)+len(text) >= maxPath {
			all = all && w.Literal
			continue
		}
		named, whole := v.spelt(strings.TrimSuffix(dir, "/")+"/"+text, true)
		if named {
			return true, true
		}
		all = all && whole
	}
	return false, all
}

func (v *vital) spelt(text string, expands bool) (named, all bool) {
	if dir, last := withoutLast(text); last && expands {
		if named, _ = v.named(dir, true); named {
			return true, true
		}
	}
	return v.named(text, expands)
}

// withoutLast is the directory of a text of which the last component names everything.
func withoutLast(text string) (dir string, all bool) {
	at := strings.LastIndexByte(text, '/')
	last := text[at+1:]
	if at < 0 || last == "" || strings.Trim(last, "*?.![]{},") != "" || !strings.ContainsAny(last, "*?") {
		return "", false
	}
	return text[:at+1], true
}

func (v *vital) named(text string, expands bool) (named, all bool) {
	if clean := path.Clean(text); expands && (slices.Contains(homes, clean) || clean[0] == '~' && !strings.Contains(clean, "/")) {
		return true, true
	}
	list, all := Readings(text, v.env, expands)
	for _, r := range list {
		name := r.Path
		if v.env.Root == "" && name == "/" && r.Steps&StepRoot != 0 && strings.Count(text, "..") < deepest {
			continue // nobody knows where it begins; most projects are deeper
		}
		if !strings.HasPrefix(name, "/") {
			if v.env.Root == "" || climbs([]byte(name)) {
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

func (v *vital) lost(name string) bool {
	name = fold(name)
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return fold(dir) == name }) || v.env.Home != "" && (fold(v.env.Home) == name || strings.HasPrefix(fold(v.env.Home), name+"/"))
}

// begins reports wildcards in the first component that may stand for one of the directories.
func (v *vital) begins(name string) bool {
	first := fold(name[1:])
	if strings.Contains(first, "/") {
		return false
	}
	written := first[:strings.IndexAny(first+"*", "*?[{")]
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return dir != "/" && strings.HasPrefix(fold(dir[1:]), written) })
}
