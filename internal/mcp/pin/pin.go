// Package pin stores the accepted definitions of MCP tools in one file that several
// processes share.
//
//	pins := pin.Open("/home/ada/.local/state/stopgate/mcp-pins.json")
//	same, err := pins.Check("github", "create_issue", hash, definition)
//
// The first definition of a tool that is seen is accepted. A different definition is stored
// next to it until an operator accepts it; until then Check reports that the tool has
// changed (G4). If the file cannot be read or parsed, every call returns an error, and no
// definition is accepted.
package pin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/owner"
)

// Definition is one definition of a tool.
type Definition struct {
	Hash string          `json:"hash"` // SHA-256 of Text in hex
	Text json.RawMessage `json:"text"` // canonical JSON
	Seen time.Time       `json:"seen"`
}

// Pin is the state of one tool.
type Pin struct {
	Server   string            `json:"server"`
	Tool     stopgate.ToolName `json:"tool"`
	Accepted Definition        `json:"accepted"`
	// By is who accepted the definition, "" if it was accepted because it was the first.
	By string `json:"by,omitempty"`
	// Changed is the newest definition that is not accepted yet, nil if there is none.
	Changed *Definition `json:"changed,omitempty"`
}

// file is the content of the pin file.
type file struct {
	Version int   `json:"version"`
	Pins    []Pin `json:"pins"`
}

// Store reads and writes a pin file. It is safe for concurrent use, also by several
// processes.
type Store struct {
	path string
	now  func() time.Time

	mu         sync.Mutex
	cached     *file
	cachedInfo os.FileInfo // of the file when it was cached
}

// Open returns the store at path. The file is created by the first change.
func Open(path string) *Store { return &Store{path: path, now: time.Now} }

// InMemory returns a store that is not saved.
func InMemory() *Store { return &Store{now: time.Now} }

// maxFile is the maximum size of the file in bytes.
const maxFile = 256 << 20

// ErrUnknown is returned if the tool is not pinned.
var ErrUnknown = errors.New("pin: tool is not pinned")

// ErrUnchanged is returned by Accept if no changed definition with the given hash is
// stored.
var ErrUnchanged = errors.New("pin: no changed definition with this hash")

// Check implements mcpgate.Pins.
func (s *Store) Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.read()
	if err != nil {
		return false, err
	}
	if p := f.find(server, tool); p != nil && (p.Accepted.Hash == hash && p.Changed == nil || p.Changed != nil && p.Changed.Hash == hash) {
		return p.Accepted.Hash == hash, nil
	}
	err = s.change(func(f *file) error {
		d := Definition{Hash: hash, Text: bytes.Clone(definition), Seen: s.now().UTC()}
		switch p := f.find(server, tool); {
		case p == nil:
			f.Pins = append(f.Pins, Pin{Server: server, Tool: tool, Accepted: d})
			same = true
		case p.Accepted.Hash == hash:
			p.Changed, same = nil, true
		default:
			p.Changed = &d
		}
		return nil
	})
	return same && err == nil, err
}

// List returns all pins, by server and tool.
func (s *Store) List() ([]Pin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	pins := slices.Clone(f.Pins)
	slices.SortFunc(pins, func(a, b Pin) int {
		return cmpOr(a.Server, b.Server, string(a.Tool), string(b.Tool))
	})
	return pins, nil
}

// Accept accepts the changed definition of a tool. hash is the hash of the definition that
// the operator has reviewed; if the changed definition has another one, Accept returns
// ErrUnchanged.
func (s *Store) Accept(server string, tool stopgate.ToolName, hash, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(func(f *file) error {
		p := f.find(server, tool)
		switch {
		case p == nil:
			return ErrUnknown
		case p.Changed == nil || p.Changed.Hash != hash:
			return ErrUnchanged
		}
		p.Accepted, p.Changed, p.By = *p.Changed, nil, by
		return nil
	})
}

// Forget removes the pins of a server, or of one of its tools, and returns their number.
// The next definition that is seen is accepted again.
func (s *Store) Forget(server string, tool stopgate.ToolName) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.change(func(f *file) error {
		before := len(f.Pins)
		f.Pins = slices.DeleteFunc(f.Pins, func(p Pin) bool { return p.Server == server && (tool == "" || p.Tool == tool) })
		n = before - len(f.Pins)
		return nil
	})
	return n, err
}

func (f *file) find(server string, tool stopgate.ToolName) *Pin {
	for i := range f.Pins {
		if f.Pins[i].Server == server && f.Pins[i].Tool == tool {
			return &f.Pins[i]
		}
	}
	return nil
}

func cmpOr(pairs ...string) int {
	for i := 0; i+1 < len(pairs); i += 2 {
		switch {
		case pairs[i] < pairs[i+1]:
			return -1
		case pairs[i] > pairs[i+1]:
			return 1
		}
	}
	return 0
}

// read returns the content of the file, from the cache if the file is unchanged. s.mu is
// locked.
func (s *Store) read() (*file, error) {
	if s.path == "" {
		if s.cached == nil {
			s.cached = &file{Version: 1}
		}
		return s.cached, nil
	}
	at, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.cached, s.cachedInfo = nil, nil
		return &file{Version: 1}, nil
	case err != nil:
		return nil, fmt.Errorf("pin: %w", err)
	case at.Size() > maxFile:
		return nil, fmt.Errorf("pin: %s is larger than 256 MiB", s.path)
	}
	if s.cached != nil && os.SameFile(at, s.cachedInfo) && at.ModTime().Equal(s.cachedInfo.ModTime()) && at.Size() == s.cachedInfo.Size() {
		return s.cached, nil
	}
	if err := owner.Policy(s.path); err != nil { // pins are as sensitive as a policy
		return nil, fmt.Errorf("pin: %w", err)
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("pin: %w", err)
	}
	f := new(file)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("pin: parse %s: %w", s.path, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("pin: %s has unknown version %d: it was written by a newer stopgate", s.path, f.Version)
	}
	s.cached, s.cachedInfo = f, at
	return f, nil
}

// change locks the file, applies edit and replaces the file atomically.
func (s *Store) change(edit func(*file) error) (err error) {
	if s.path == "" {
		f, _ := s.read() // never fails in memory
		return edit(f)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	lock, err := os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	defer lock.Close()
	if err := lockFile(lock); err != nil {
		return fmt.Errorf("pin: lock %s: %w", s.path, err)
	}
	s.cached = nil
	f, err := s.read()
	s.cached = nil // edit modifies f
	if err != nil {
		return err
	}
	if err := edit(f); err != nil {
		return err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	if err := atomicfile.Replace(s.path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	return atomicfile.SyncDir(filepath.Dir(s.path))
}
