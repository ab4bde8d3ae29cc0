package policies

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Files is the policy "read a file before you change it" (TPS-21). Build it with
// [ReadBeforeWrite].
//
// A write of a path is allowed when the session knows the file: a read or a write of it
// has succeeded (Q15), or the gate's own surface has observed that the file does not exist
// ([session.Absent]). Calls that move or delete files invalidate that knowledge, also for
// everything below a directory.
type Files struct {
	name     string
	reads    session.Selector
	writes   session.Selector
	broken   session.Selector
	key      keys
	moves    []jsonstream.Pointer
	hash     jsonstream.Pointer
	missing  missingKey
	within   int64
	observed bool
	unknown  bool
	public   string
	ask      bool
	err      error
}

// The names that read and write tools, and their path arguments, usually have (TPS-21, TPS-22).
var (
	readTools  = []string{"read_file", "fs_read_file", "vfs_read_file", "read", "Read", "view", "open_file"}
	writeTools = []string{"write_file", "fs_modify_file", "fs_create_file", "edit_file", "vfs_write_file", "vfs_edit_file", "edit", "Edit", "write", "Write", "MultiEdit"}
	pathKeys   = []string{"/path", "/file_path", "/filepath"}
	moved      = []string{"/path", "/file_path", "/filepath", "/from", "/to", "/source", "/destination", "/old_path", "/new_path"}
)

// ReadBeforeWrite begins a policy with the default tools and path arguments.
func ReadBeforeWrite() *Files {
	f := &Files{name: "read_before_write", reads: Select(readTools...), writes: Select(writeTools...)}
	f.key.path = true
	for _, text := range moved {
		p, _ := jsonstream.ParsePointer(text)
		f.moves = append(f.moves, p)
	}
	return f.Key(pathKeys...)
}

// Named sets the name of the policy; by default it is read_before_write.
func (f *Files) Named(name string) *Files { f.name = name; return f }

// Reads sets the tools that read a file, names or globs (TPS-23).
func (f *Files) Reads(tools ...string) *Files { f.reads = Select(tools...); return f }

// Writes sets the tools that may only change a file that was read.
func (f *Files) Writes(tools ...string) *Files { f.writes = Select(tools...); return f }

// InvalidatedBy names tools that move, delete or otherwise change files: from their
// release on the paths that they name, and everything below, have to be read again. A call
// that names no path invalidates every path.
func (f *Files) InvalidatedBy(tools ...string) *Files { f.broken = Select(tools...); return f }

// Key sets the pointers of the path; of several the first that is present counts.
func (f *Files) Key(pointers ...string) *Files {
	f.key.pointers = nil
	f.err = f.key.add(f.err, pointers)
	for _, p := range f.key.pointers {
		if !slices.ContainsFunc(f.moves, func(q jsonstream.Pointer) bool { return slices.Equal(p, q) }) {
			f.moves = append(f.moves, p)
		}
	}
	return f
}

// ContentHash requires writes to carry, at the pointer, the SHA-256 in hex of the content
// that was read last, so that a file that has changed since is not overwritten.
func (f *Files) ContentHash(pointer string) *Files {
	p, err := jsonstream.ParsePointer(pointer)
	if err != nil {
		f.err = err
	}
	f.hash = p
	return f
}

// AllowMissingKey allows writes without a path (TPS-24); by default they are denied with
// key_unavailable (H8).
func (f *Files) AllowMissingKey() *Files { f.missing = allowMissing; return f }

// Within sets how long a read counts.
func (f *Files) Within(d time.Duration) *Files { f.within = d.Milliseconds(); return f }

// Observed counts only results that the gate's own surface observed (X13).
func (f *Files) Observed() *Files { f.observed = true; return f }

// AcceptUnknown also counts reads that ended with an unknown result (S24).
func (f *Files) AcceptUnknown() *Files { f.unknown = true; return f }

// Because replaces the sentence for models and people.
func (f *Files) Because(public string) *Files { f.public = public; return f }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// their text counts.
func (f *Files) ReadPaths(p PathReader) *Files { f.key.paths = p; return f }

// Ask asks a person about a call to which the policy objects, instead of denying it: a yes allows
// this one call. A call whose key or session is not known is denied all the same.
func (f *Files) Ask() *Files { f.ask = true; return f }

// Name returns the policy's name.
func (f *Files) Name() string { return f.name }

// Tools returns readers, writers and invalidating tools.
func (f *Files) Tools() session.Selector { return f.reads.Or(f.writes).Or(f.broken) }

// Denies returns the writers.
func (f *Files) Denies() session.Selector { return f.writes }

// Valid returns the first mistake of the builder.
func (f *Files) Valid() error {
	switch {
	case f.err != nil:
		return f.err
	case f.reads.Empty() || f.writes.Empty():
		return errNoTools
	case len(f.key.pointers) == 0:
		return errNoKey
	}
	return nil
}

// NeedsArguments reports true: the policy compares paths.
func (f *Files) NeedsArguments() bool { return true }

// Bounded reports whether p is this policy: its cost is bounded by construction.
func (f *Files) Bounded(p session.Policy) bool { return p == session.Policy(f) }

// Watched returns the pointers whose values are enough to deny a call of the tool.
func (f *Files) Watched(tool stopgate.ToolName) []jsonstream.Pointer {
	if f.missing != denyMissing || f.hash != nil || !f.writes.Match(tool) {
		return nil
	}
	return f.key.watched()
}
