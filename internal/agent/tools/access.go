package tools

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
)

// view is the working tree as one call may touch it.
type view struct {
	*Set
	tool stopgate.ToolName
	// access has names in the tree; nil without a limit.
	access *stopgate.Access
}

// need is the access to a file that an operation takes.
type need uint8

const (
	reads need = 1 << iota
	writes
)

// view returns the tree as a call may touch it.
func (s *Set) view(call agent.Task) *view {
	v := &view{Set: s, tool: call.Tool}
	if a := call.Access; a != nil {
		v.access = &stopgate.Access{Read: s.granted(a.Read), Write: s.granted(a.Write)}
	}
	return v
}

// granted returns the names in the tree of a list of absolute paths. Paths outside of the tree are
// left out: file tools never leave it.
func (s *Set) granted(paths []string) []string {
	if paths == nil {
		return nil
	}
	names := []string{}
	for _, path := range paths {
		for _, dir := range []string{s.dir, s.given} {
			path := filepath.FromSlash(path)
			if rel, err := filepath.Rel(path, dir); err == nil && filepath.IsLocal(rel) {
				names = append(names, ".")
				break
			}
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
				names = append(names, filepath.ToSlash(rel))
				break
			}
		}
	}
	return names
}

// permitted returns an error if the call may not touch a file of the tree so.
func (v *view) permitted(name string, n need) error {
	name = filepath.ToSlash(name)
	switch {
	case n&reads != 0 && !v.access.MayRead(name):
		return v.refusal("read", v.access.Read, name)
	case n&writes != 0 && !v.access.MayWrite(name):
		return v.refusal("write", v.access.Write, name)
	}
	return nil
}

func (v *view) refusal(verb string, granted []string, name string) error {
	if len(granted) == 0 {
		return fmt.Errorf("access: %s may %s no files of this tree, so %s is left alone; an approval does not change that", v.tool, verb, name)
	}
	return fmt.Errorf("access: %s may %s only %s; %s is not there, and an approval does not change that", v.tool, verb, strings.Join(granted, ", "), name)
}

// shows reports whether a search may name an entry of the tree: it is readable, or a directory on
// the way to what is.
func (v *view) shows(name string) bool {
	if v.access.MayRead(name) {
		return true
	}
	for _, granted := range v.access.Read {
		if name == "." || strings.HasPrefix(granted, name+"/") {
			return true
		}
	}
	return false
}

// unenforced returns an error if the call is limited: a process opens files by itself.
func (v *view) unenforced() error {
	if v.access == nil {
		return nil
	}
	return fmt.Errorf("access: the policy limits the files that %s may touch, and stopgate cannot hold a process to that: it did not run. Use the file tools", v.tool)
}
