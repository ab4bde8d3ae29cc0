package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
)

// movable is an environment variable that sets the location of a program's settings.
type movable struct {
	variable string
	// replaces is the directory of the protected list that the variable replaces; "" for a file or
	// directory of settings of its own.
	replaces string
}

func movables() []movable {
	return []movable{
		{"XDG_CONFIG_HOME", ".config"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_DATA_HOME", ".local/share"},
		{"CLAUDE_CONFIG_DIR", ".claude"}, {"CODEX_HOME", ".codex"}, {"QWEN_HOME", ".qwen"}, {"COPILOT_HOME", ".copilot"},
		{"PI_CODING_AGENT_DIR", ".pi/agent"}, {"OPENCODE_CONFIG_DIR", ".opencode"}, {"OPENCODE_CONFIG", ""}, {"GIT_CONFIG_GLOBAL", ""},
	}
}

// Settings returns the locations of programs' settings, and of the gate's own store, that differ
// from the defaults because of the environment of an account, or of symbolic links in its home
// directory and in the root of a project; nil if there are none. root is "" for no project, url the
// store of the command line, "" for the default.
func Settings(a config.Account, root, url string) *match.Settings {
	var s match.Settings
	home, _ := a.Home()
	for _, m := range movables() {
		dir := a.Env(m.variable)
		if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) || m.replaces != "" && filepath.Clean(dir) == filepath.Join(home, m.replaces) {
			continue // the default location
		}
		for _, name := range names(dir) {
			if m.replaces == "" {
				s.Asked = append(s.Asked, name)
			} else {
				s.Moved = append(s.Moved, match.Moved{From: m.replaces, To: name})
			}
		}
	}
	named := match.Named()
	for _, m := range slices.Clone(s.Moved) {
		linksIn(&s, m.To, m.From, named)
	}
	links(&s, home, named)
	if root != home {
		links(&s, root, named)
	}
	if url != "" {
		s.Denied = append(s.Denied, storePaths(url, a)...)
	}
	if len(s.Moved)+len(s.Asked)+len(s.Denied) == 0 {
		return nil
	}
	return &s
}

// names returns a path and, if links lead elsewhere, its target.
func names(path string) []string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == filepath.Clean(path) {
		return []string{path}
	}
	return []string{path, real}
}

// storePaths returns the files of a store, and the state of hooks next to it.
func storePaths(url string, a config.Account) (list []string) {
	store, err := place.StorePathOf(url, a)
	if err != nil || store == place.Memory || !filepath.IsAbs(store) {
		return nil
	}
	for _, name := range names(store) {
		for _, end := range storeFiles() {
			list = append(list, name+end)
		}
		list = append(list, name+"-head", name+"-spool")
		list = append(list, filepath.Join(filepath.Dir(name), hooksDir))
	}
	return list
}

// digest returns equal texts for equal settings.
func digest(s *match.Settings) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%q", *s)
}
