package begin

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/host/servers"
)

// undoing is what stop does.
type undoing struct {
	journal       *journal
	home, userDir string
	purge, dry    bool
	list          []done
}

// takeOut returns the text of a file without what a step put there, nil for no file.
func takeOut(s *step, text []byte, home, root string) ([]byte, error) {
	at := install.Location{Scope: install.User, Home: home, Dir: root, Getenv: os.Getenv}
	switch s.Part {
	case partHooks:
		made, err := install.Make(s.Host, at, install.Command{Program: process.SmallName})
		if err != nil {
			return nil, err
		}
		for _, q := range append([]*install.Plan{made}, made.Also...) {
			if q.File == s.File {
				return q.Uninstall(text)
			}
		}
	case partServers:
		for _, f := range servers.Files(servers.Location{Home: home, Dir: root, Getenv: os.Getenv}) {
			if f.Host == s.Host && f.Path == s.File {
				return f.Remove(text, s.Servers)
			}
		}
	}
	return nil, fmt.Errorf("%s is no settings file of %s any more", s.File, s.Host)
}

// steps lists the steps to undo for the project of a root, the newest first. The files of the user serve other
// projects as long as there are any.
func (u *undoing) steps(root string, all bool) (list []*step, others []string) {
	for _, r := range slices.Sorted(maps.Keys(u.journal.Projects)) {
		if r != root && !all {
			others = append(others, r)
			continue
		}
		list = append(list, u.journal.Projects[r]...)
	}
	if len(others) == 0 {
		list = append(slices.Clone(u.journal.User), list...)
	}
	slices.Reverse(list)
	return list, others
}

// undo undoes one step.
func (u *undoing) undo(s *step, root string) error {
	if s.Part == partTrust {
		return u.revoke(s)
	}
	now, err := readFile(s.File)
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	did := "changed"
	var after []byte
	switch {
	case now == nil, !s.Created && sum(now) == s.Was:
		did = "" // there is nothing of it
	case s.Created && (sum(now) == s.Is || s.Part == partPolicy && u.purge):
		did = "removed"
	case s.Part == partPolicy:
		did = "kept"
	case s.Before != nil && sum(now) == s.Is:
		after = s.Before
	default:
		if after, err = takeOut(s, now, u.home, root); err != nil {
			return fmt.Errorf("stop: %s is left alone: %w", s.File, err)
		}
		if after == nil {
			did = "removed"
		}
		if after != nil && string(after) == string(now) {
			did = ""
		}
	}
	if did != "" {
		u.list = append(u.list, done{s.Part, s.Host, s.File, did})
	}
	if u.dry {
		return nil
	}
	if did == "changed" || did == "removed" {
		if err := writeFile(s.File, now, after, 0); err != nil {
			return fmt.Errorf("stop: %s was not written: %w", s.File, err)
		}
	}
	u.journal.remove(s)
	return nil
}

// revoke takes back the trust in the bytes that were trusted, and in all that was at the path.
func (u *undoing) revoke(s *step) error {
	trusted, err := config.Trusted(u.userDir, s.Is)
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	if trusted {
		u.list = append(u.list, done{partTrust, "", s.File, "revoked"})
	}
	if u.dry {
		return nil
	}
	if _, err := config.Revoke(u.userDir, s.File, s.Is); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	u.journal.remove(s)
	return nil
}
