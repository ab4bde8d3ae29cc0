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

// movable is a variable of the environment by which a program looks for its settings
// elsewhere.
type movable struct {
	variable string
	// stands is which directory of the protected list the variable names; "" for a file or
	// directory of settings of its own.
	stands string
}

func movables() []movable {
	return []movable{
		{"XDG_CONFIG_HOME", ".config"}, {"XDG_STATE_HOME", ".local/state"}, {"XDG_DATA_HOME", ".local/share"},
		{"CLAUDE_CONFIG_DIR", ".claude"}, {"CODEX_HOME", ".codex"}, {"QWEN_HOME", ".qwen"}, {"COPILOT_HOME", ".copilot"},
		{"PI_CODING_AGENT_DIR", ".pi/agent"}, {"OPENCODE_CONFIG_DIR", ".opencode"}, {"OPENCODE_CONFIG", ""}, {"GIT_CONFIG_GLOBAL", ""},
	}
}

// Settings is what the environment of an account, and symbolic links in its home and in the
// root of a project, say about where programs keep their settings, and about the gate's own
// store; nil where that is where it usually is. root is "" for no project, url the store of
// the command line, "" for the usual one.
func Settings(a config.Account, root, url string) *match.Settings {
	var s match.Settings
	home, _ := a.Home()
	for _, m := range movables() {
		dir := a.Env(m.variable)
		if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) || m.stands != "" && filepath.Clean(dir) == filepath.Join(home, m.stands) {
			continue // where it would be anyway
		}
		for _, name := range names(dir) {
			if m.stands == "" {
				s.Asked = append(s.Asked, name)
			} else {
				s.Moved = append(s.Moved, match.Moved{From: m.stands, To: name})
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
		s.Denied = append(s.Denied, stateBeside(url, a)...)
	}
	if len(s.Moved)+len(s.Asked)+len(s.Denied) == 0 {
		return nil
	}
	return &s
}

// names are a path and, where links lead elsewhere, what it stands for.
func names(path string) []string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == filepath.Clean(path) {
		return []string{path}
	}
	return []string{path, real}
}

// stateBeside are the files of a store, and what hooks keep beside it.
func stateBeside(url string, a config.Account) (list []string) {
	store, err := place.StorePathOf(url, a)
	if err != nil || store == place.Memory || !filepath.IsAbs(store) {
		return nil
	}
	for _, name := range names(store) {
		for _, end := range storeFiles() {
			list = append(list, name+end)
		}
		list = append(list, name+"-head", name+"-spool")
		list = append(list, filepath.Join(filepath.Dir(name), besideStore))
	}
	return list
}

// digest names settings: the same for the same ones.
func digest(s *match.Settings) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%q", *s)
}
