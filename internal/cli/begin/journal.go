package begin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/host/servers"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// journalName is the name of the journal in the state directory.
const journalName = "start.json"

// journal lists the changes that start has made and stop has not undone. It is written before the changes, so that
// what was interrupted is undone too. It changes only by addition.
type journal struct {
	Version int `json:"version"`
	// Projects are the changes to the files of each project, by its root, in their order.
	Projects map[string][]*step `json:"projects"`
	// User are the changes to files of the user, which serve all projects.
	User []*step `json:"user"`
	// Directories were made for these files, and TrustFile is set if the list of what is trusted was. They are
	// removed when they are empty.
	Directories []string `json:"directories,omitempty"`
	TrustFile   bool     `json:"trust_file,omitempty"`

	path string
}

// step is one change.
type step struct {
	Part part   `json:"part"`
	Host string `json:"host,omitempty"`
	File string `json:"file"`
	// Created is set if there was no file.
	Created bool `json:"created,omitempty"`
	// Before is the text of the file where taking out the change would not lead back to it.
	Before []byte `json:"before,omitempty"`
	// Was and Is are the SHA-256 of the file before and after.
	Was string `json:"was,omitempty"`
	Is  string `json:"is"`
	// Servers are those that got the gate.
	Servers []servers.Server `json:"servers,omitempty"`
}

// readJournal reads the journal; an empty one if there is none.
func readJournal() (*journal, error) {
	path, err := place.Path(journalName)
	if err != nil {
		return nil, err
	}
	j := &journal{Version: 1, Projects: map[string][]*step{}, path: path}
	text, err := config.ReadFile(path, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return j, nil
	case err != nil:
		return nil, fmt.Errorf("read the journal of start: %w", err)
	}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("read the journal of start: %s: %w", path, err)
	}
	if j.Version != 1 {
		return nil, fmt.Errorf("read the journal of start: %s has version %d: another version of stopgate wrote it", path, j.Version)
	}
	if j.Projects == nil {
		j.Projects = map[string][]*step{}
	}
	return j, nil
}

// write makes the journal durable; an empty one is removed.
func (j *journal) write() error {
	if len(j.Projects)+len(j.User) == 0 {
		if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write the journal of start: %w", err)
		}
		return nil
	}
	if _, err := place.File(journalName); err != nil { // makes the directory
		return err
	}
	text, err := json.MarshalIndent(j, "", " ")
	if err == nil {
		err = atomicfile.Replace(j.path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the journal of start: %w", err)
	}
	return nil
}

// makes records the directories that a file needs.
func (j *journal) makes(file string) { j.Directories = append(j.Directories, missing(file)...) }

// clean removes what was made and is empty.
func (j *journal) clean(trustFile string) error {
	if at, err := os.Lstat(trustFile); j.TrustFile && err == nil && at.Mode().IsRegular() && at.Size() == 0 {
		if err := os.Remove(trustFile); err != nil {
			return fmt.Errorf("stop: %w", err)
		}
		j.TrustFile = false
	}
	slices.SortFunc(j.Directories, func(a, b string) int { return len(b) - len(a) }) // the innermost first
	j.Directories = slices.DeleteFunc(slices.Compact(j.Directories), func(dir string) bool { return os.Remove(dir) == nil })
	return j.write()
}

// remove removes a step.
func (j *journal) remove(s *step) {
	is := func(t *step) bool { return t == s }
	j.User = slices.DeleteFunc(j.User, is)
	for root := range j.Projects {
		j.Projects[root] = slices.DeleteFunc(j.Projects[root], is)
	}
}

// sum is the SHA-256 of a text in hex.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}
