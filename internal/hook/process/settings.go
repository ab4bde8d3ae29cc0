package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
)

// moves returns the environment variables that move settings in the protected list: those of the
// system, of git, and of every host.
func moves() []hook.Move {
	list := []hook.Move{
		{Variable: "XDG_CONFIG_HOME", Replaces: ".config"}, {Variable: "XDG_STATE_HOME", Replaces: ".local/state"}, {Variable: "XDG_DATA_HOME", Replaces: ".local/share"},
		{Variable: "GIT_CONFIG_GLOBAL", Adds: true},
	}
	for _, h := range hook.All() {
		for _, m := range h.Variables() {
			if (m.Replaces != "" || m.Adds) && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	return list
}

// Settings returns the locations of programs' settings, and of the gate's own store, that differ
// from the defaults because of the environment of an account, or of symbolic links in its home
// directory and in the root of a project; nil if there are none. root is "" for no project, url the
// store of the command line, "" for the default.
func Settings(a config.Account, root, url string) *condition.Settings {
	var s condition.Settings
	home, _ := a.Home()
	for _, m := range moves() {
		dir := a.Env(m.Variable)
		if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) || !m.Adds && filepath.Clean(dir) == filepath.Join(home, m.Replaces) {
			continue // the default location
		}
		for _, name := range names(dir) {
			if m.Adds {
				s.Asked = append(s.Asked, name)
			} else {
				s.Moved = append(s.Moved, condition.Moved{From: m.Replaces, To: name})
			}
		}
	}
	named := protected.Named()
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
	if err == nil && store != place.Memory {
		store, err = place.LocalOf(store, a)
	}
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
func digest(s *condition.Settings) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%q", *s)
}
