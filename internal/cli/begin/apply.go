package begin

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/config"
)

// done is one line of the report of start and stop; it changes only by addition.
type done struct {
	Part part   `json:"part"`
	Host string `json:"host,omitempty"`
	File string `json:"file"`
	Did  string `json:"did"` // created, changed, removed, kept, trusted, revoked
}

// apply makes the changes of a plan, after all of them are in the journal. It returns what was done, also with an
// error.
func (p *planner) apply(out *plan, c choice) (list []done, err error) {
	j, err := readJournal()
	if err != nil {
		return nil, err
	}
	policy := filepath.Join(out.root, config.FileName)
	trusts := c.has(partPolicy) && c.has(partTrust) && !out.kept && !out.trusted
	if len(out.changes) == 0 && !trusts && (len(j.User) == 0 || j.Projects[out.root] != nil) {
		return nil, nil
	}
	if err := p.announce(j, out, trusts); err != nil {
		return nil, err
	}
	for _, ch := range out.changes {
		if err := writeFile(ch.file, ch.before, ch.after, ch.mode); err != nil {
			return list, fmt.Errorf("start: %s was not written: %w", ch.file, err)
		}
		list = append(list, done{ch.part, ch.host, ch.file, ch.did()})
		if ch.file == policy && trusts {
			if err := p.trust(out); err != nil {
				return list, err
			}
			list, trusts = append(list, done{partTrust, "", policy, "trusted"}), false
		}
	}
	if trusts { // the file is there already, with these bytes
		if err := p.trust(out); err != nil {
			return list, err
		}
		list = append(list, done{partTrust, "", policy, "trusted"})
	}
	return list, nil
}

// did is the word for a change.
func (ch change) did() string {
	if ch.before == nil {
		return "created"
	}
	return "changed"
}

// announce writes all changes into the journal.
func (p *planner) announce(j *journal, out *plan, trusts bool) error {
	// What serves all projects stays until the last of them is stopped.
	steps := j.Projects[out.root]
	if trusts {
		list := trustFile(p.userDir)
		j.TrustFile = j.TrustFile || !exists(list)
		j.makes(list)
		steps = append(steps, &step{Part: partTrust, File: filepath.Join(out.root, config.FileName), Is: sum(out.policy)})
	}
	for _, ch := range out.changes {
		s := &step{Part: ch.part, Host: ch.host, File: ch.file, Created: ch.before == nil, Is: sum(ch.after), Servers: ch.servers}
		if s.Created {
			file, err := hosts.Behind(ch.file)
			if err != nil {
				return fmt.Errorf("start: %w", err)
			}
			j.makes(file)
		} else {
			s.Was = sum(ch.before)
			back, err := takeOut(s, ch.after, p.home, p.root)
			if err != nil || !bytes.Equal(back, ch.before) {
				s.Before = ch.before
			}
		}
		if ch.user {
			j.User = append(j.User, s)
		} else {
			steps = append(steps, s)
		}
	}
	j.Projects[out.root] = append([]*step{}, steps...)
	return j.write()
}

// trust trusts the policy that was written, if its bytes are the ones that were shown.
func (p *planner) trust(out *plan) error {
	set, err := config.Discover(config.Where{Policy: []string{filepath.Join(out.root, config.FileName)}})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	file := set.Files[0]
	if !bytes.Equal(file.Text, out.policy) {
		return fmt.Errorf("start: %s is not what was shown: it was not trusted", file.Path)
	}
	if err := config.Trust(p.userDir, file); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return nil
}

// trustFile is the list of what is trusted.
func trustFile(userDir string) string { return filepath.Join(userDir, config.TrustName) }
