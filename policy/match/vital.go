package match

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/shell"
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

// names reports that a word may name one of the directories, or all that lies in one.
// dirs are directories, as they are written, in which a relative one may begin.
func (v *vital) names(w *shell.Word, dirs []string) bool {
	text := string(w.Text)
	if w.Home {
		text = "~" + text
	}
	if text == "" || len(text) > maxPath {
		return false
	}
	if v.spelt(text, !w.Literal) {
		return true
	}
	return text[0] != '/' && text[0] != '~' && text[0] != '$' && slices.ContainsFunc(dirs, func(dir string) bool {
		return len(dir)+len(text) < maxPath && v.spelt(strings.TrimSuffix(dir, "/")+"/"+text, true)
	})
}

func (v *vital) spelt(text string, expands bool) bool {
	if dir, all := withoutLast(text); all && expands && v.named(dir, true) {
		return true
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

func (v *vital) named(text string, expands bool) bool {
	if clean := path.Clean(text); expands && (slices.Contains(homes, clean) || clean[0] == '~' && !strings.Contains(clean, "/")) {
		return true
	}
	list, _ := Readings(text, v.env, expands)
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
			return true
		}
	}
	return false
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
