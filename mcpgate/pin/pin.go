// Package pin remembers which definitions of MCP tools are the accepted ones, in one
// file that several processes share.
//
//	pins := pin.Open("/home/ada/.local/state/stopgate/mcp-pins.json")
//	same, err := pins.Check("github", "create_issue", hash, definition)
//
// The first definition of a tool that is seen is accepted. Every other one is kept
// beside it until an operator accepts it; until then Check says that it is not the
// same (THREATS G4, CVE-2025-54136). A file that cannot be read, or holds what cannot
// be understood, is an error of every call: nothing is accepted anew because of it.
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
	"github.com/stopgate/stopgate/internal/owner"
)

// Definition is one definition of a tool.
type Definition struct {
	Hash string          `json:"hash"` // SHA-256 in hex of the canonical text
	Text json.RawMessage `json:"text"` // canonical JSON
	Seen time.Time       `json:"seen"`
}

// Pin is what is known of one tool.
type Pin struct {
	Server   string            `json:"server"`
	Tool     stopgate.ToolName `json:"tool"`
	Accepted Definition        `json:"accepted"`
	// By is who accepted it; "" was nobody: it was the first one seen.
	By string `json:"by,omitempty"`
	// Changed is the newest definition that waits to be accepted, nil if there is none.
	Changed *Definition `json:"changed,omitempty"`
}

// file is the whole file.
type file struct {
	Version int   `json:"version"`
	Pins    []Pin `json:"pins"`
}

// Store is the file. It is safe for concurrent use, also by several processes.
type Store struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	known *file
	as    os.FileInfo // when known was read
}

// Open returns the store at a path; the file is made when there is something to keep.
func Open(path string) *Store { return &Store{path: path, now: time.Now} }

// InMemory returns a store that ends with the process.
func InMemory() *Store { return &Store{now: time.Now} }

// maxFile is the longest file that is read.
const maxFile = 256 << 20

// ErrUnknown says that no such tool is pinned.
var ErrUnknown = errors.New("pin: no such tool")

// ErrUnchanged says that a tool has no definition that waits.
var ErrUnchanged = errors.New("pin: the tool has not changed")

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

// Accept makes the definition that waits the accepted one. hash is the one that was
// shown; another one is refused with ErrUnchanged.
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

// Forget removes the pins of a server, or of one tool of it: what is seen next is
// accepted. It reports how many there were.
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

// read returns the file as it is; s.mu is held. What was read is used again while the
// file is the same.
func (s *Store) read() (*file, error) {
	if s.path == "" {
		if s.known == nil {
			s.known = &file{Version: 1}
		}
		return s.known, nil
	}
	at, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.known, s.as = nil, nil
		return &file{Version: 1}, nil
	case err != nil:
		return nil, fmt.Errorf("pin: %w", err)
	case at.Size() > maxFile:
		return nil, fmt.Errorf("pin: %s is too long", s.path)
	}
	if s.known != nil && os.SameFile(at, s.as) && at.ModTime().Equal(s.as.ModTime()) && at.Size() == s.as.Size() {
		return s.known, nil
	}
	if err := owner.Policy(s.path); err != nil { // what is accepted is as good as a policy
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
		return nil, fmt.Errorf("pin: %s cannot be read: %w", s.path, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("pin: %s has version %d, which this stopgate does not know", s.path, f.Version)
	}
	s.known, s.as = f, at
	return f, nil
}

// change changes the file: one process at a time, and whole or not at all.
func (s *Store) change(edit func(*file) error) (err error) {
	if s.path == "" {
		f, _ := s.read() // in memory it is always there
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
	if err := await(lock); err != nil {
		return fmt.Errorf("pin: lock: %w", err)
	}
	s.known = nil
	f, err := s.read()
	s.known = nil // edit changes it
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
	return s.replace(append(text, '\n'))
}

// replace writes the file beside the old one and puts it in its place.
func (s *Store) replace(text []byte) error {
	dir := filepath.Dir(s.path)
	next, err := os.CreateTemp(dir, ".mcp-pins-*")
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), s.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("pin: %w", err), os.Remove(next.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
