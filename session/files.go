package session

import (
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Files is the policy "read a file before you change it" (TPS-21). Build it with
// [ReadBeforeWrite].
//
// A write of a path is allowed when the session knows the file: a read of it has
// succeeded, or a write of its own has (Q15), or the gate's own surface has seen that
// nothing is there ([Absent]). Calls that move or delete files take the knowledge
// away, of everything below a directory too.
type Files struct {
	name     string
	reads    Selector
	writes   Selector
	broken   Selector
	key      keyer
	forgets  []jsonstream.Pointer
	hash     jsonstream.Pointer
	missing  missingKey
	within   int64
	observed bool
	unknown  bool
	public   string
	err      error
}

// The names that tools of this kind usually have (TPS-21, TPS-22).
var (
	ReadTools  = []string{"read_file", "fs_read_file", "read", "Read", "view", "open_file"}
	WriteTools = []string{"write_file", "fs_modify_file", "fs_create_file", "edit_file", "edit", "Edit", "write", "Write", "MultiEdit"}
	PathKeys   = []string{"/path", "/file_path", "/filepath"}
	moved      = []string{"/path", "/file_path", "/filepath", "/from", "/to", "/source", "/destination", "/old_path", "/new_path"}
)

// maxDepth bounds the directories above a path that can be looked at.
const maxDepth = 32

// ReadBeforeWrite begins a policy with the default tools and path arguments.
func ReadBeforeWrite() *Files {
	f := &Files{name: "read_before_write", reads: Select(ReadTools...), writes: Select(WriteTools...)}
	f.key.path = true
	for _, text := range moved {
		p, _ := jsonstream.ParsePointer(text)
		f.forgets = append(f.forgets, p)
	}
	return f.Key(PathKeys...)
}

// Named gives the policy another name than read_before_write.
func (f *Files) Named(name string) *Files { f.name = name; return f }

// Reads sets the tools that show a file, names or globs (TPS-23).
func (f *Files) Reads(tools ...string) *Files { f.reads = Select(tools...); return f }

// Writes sets the tools that need to know it.
func (f *Files) Writes(tools ...string) *Files { f.writes = Select(tools...); return f }

// InvalidatedBy names tools that move, delete or otherwise change files: from their
// release on the paths they name, and all that is below, have to be read again. A
// call that names no path invalidates every path.
func (f *Files) InvalidatedBy(tools ...string) *Files { f.broken = Select(tools...); return f }

// Key sets the pointers of the path; of several the first that is present counts.
func (f *Files) Key(pointers ...string) *Files {
	f.key.pointers = nil
	f.err = f.key.set(f.err, pointers)
	for _, p := range f.key.pointers {
		if !slices.ContainsFunc(f.forgets, func(q jsonstream.Pointer) bool { return slices.Equal(p, q) }) {
			f.forgets = append(f.forgets, p)
		}
	}
	return f
}

// ContentHash makes writes carry, at the pointer, the SHA-256 in hex of the content
// that was read last: a file that changed since cannot be overwritten blindly.
func (f *Files) ContentHash(pointer string) *Files {
	p, err := jsonstream.ParsePointer(pointer)
	if err != nil {
		f.err = err
	}
	f.hash = p
	return f
}

// AllowMissingKey lets writes without a path pass (TPS-24); by default they are
// denied key_unavailable (H8).
func (f *Files) AllowMissingKey() *Files { f.missing = allowMissing; return f }

// Within makes what was read count for a time only.
func (f *Files) Within(d time.Duration) *Files { f.within = d.Milliseconds(); return f }

// Observed counts only results that the gate's own surface saw (X13).
func (f *Files) Observed() *Files { f.observed = true; return f }

// AcceptUnknown also counts reads that ended without anybody saying how (S24).
func (f *Files) AcceptUnknown() *Files { f.unknown = true; return f }

// Because replaces the sentence for models and people.
func (f *Files) Because(public string) *Files { f.public = public; return f }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// the letters of a path count.
func (f *Files) ReadPaths(p PathReader) *Files { f.key.paths = p; return f }

// Name is the policy's name.
func (f *Files) Name() string { return f.name }

// Tools are readers, writers and what invalidates.
func (f *Files) Tools() Selector { return f.reads.Or(f.writes).Or(f.broken) }

// Valid reports mistakes of the builder.
func (f *Files) Valid() error {
	switch {
	case f.err != nil:
		return f.err
	case f.reads.Empty() || f.writes.Empty():
		return errNoTools
	case len(f.key.pointers) == 0:
		return errNothing
	}
	return nil
}

func (f *Files) needsArgs() bool { return true }

func (f *Files) keyer() *keyer { return &f.key }

// filesPart is the part about one tool.
type filesPart struct {
	*Files
	read, write, breaks bool // what the tool does
}

func (f *Files) about(tool stopgate.ToolName) part {
	return &filesPart{f, f.reads.Match(tool), f.writes.Match(tool), f.broken.Match(tool)}
}

func (f *Files) cell(path string) Key {
	return Key{Space: SpacePath, Name: f.name, Value: ValueOf(path)}
}

// everything is the cell that says what a call without a path invalidated.
func (f *Files) everything() Key { return Key{Space: SpaceBroken, Name: f.name} }

// parent is the directory that holds a path; ok is false at the end. "a/b/c" is in
// "a/b", in "a" and in "".
func parent(path string) (dir string, ok bool) {
	if path == "" || path == "/" {
		return "", false
	}
	switch at := strings.LastIndexByte(path, '/'); {
	case at > 0:
		return path[:at], true
	case at == 0:
		return "/", true
	}
	return "", true
}

// shallow reports whether all directories above a path can be looked at.
func shallow(path string) bool {
	ok := true
	for n := 0; ok; n++ {
		if n > maxDepth {
			return false
		}
		path, ok = parent(path)
	}
	return true
}

// paths are the paths that a call reads or writes.
func (f *Files) paths(c *Call) (paths []string, ok bool) {
	if paths, ok = f.key.of(c); f.broken.Empty() {
		return paths, ok
	}
	for _, p := range paths {
		if !shallow(p) {
			return nil, false
		}
	}
	return paths, ok
}

// Needs are the cells of the written paths and of the directories above.
func (f *Files) Needs(c Call) []Key { return f.about(c.Tool).needs(nil, &c) }

func (f *filesPart) needs(keys []Key, c *Call) []Key {
	if !f.write {
		return keys
	}
	paths, ok := f.paths(c)
	if !ok {
		return keys
	}
	breakable := !f.broken.Empty()
	if breakable {
		keys = append(keys, f.everything())
	}
	for _, p := range paths {
		for dir, ok := parent(p); ok && breakable; dir, ok = parent(dir) {
			keys = append(keys, f.cell(dir))
		}
		keys = append(keys, f.cell(p))
	}
	return keys
}

// Marks are the knowledge that the call will mean, and what it invalidates.
func (f *Files) Marks(c Call) []Mark { return f.about(c.Tool).marks(nil, &c) }

func (f *filesPart) marks(marks []Mark, c *Call) []Mark {
	if f.breaks {
		marks = append(marks, f.broke(c)...)
	}
	if !f.read && !f.write {
		return marks
	}
	paths, ok := f.paths(c)
	if !ok {
		return marks
	}
	for _, p := range paths {
		marks = append(marks, Mark{Key: f.cell(p), Permits: true, Opens: f.read, Absent: f.read})
	}
	return marks
}

// broke are the marks of a call that moves or deletes: what it names, or everything if
// that cannot be told.
func (f *Files) broke(c *Call) []Mark {
	var marks []Mark
	for _, pointer := range f.forgets {
		leaves, ok := pointer.All(nil, c.Args)
		paths, plain := f.key.texts(nil, leaves, true)
		if !ok || !plain {
			return []Mark{{Key: f.everything(), Breaks: true}}
		}
		for _, p := range paths {
			marks = append(marks, Mark{Key: f.cell(p), Breaks: true})
		}
	}
	if len(marks) == 0 {
		return []Mark{{Key: f.everything(), Breaks: true}}
	}
	return marks
}

// Check asks whether the session knows every path that a call writes.
func (f *Files) Check(v View, c Call) Decision { return f.about(c.Tool).check(&v, &c) }

func (f *filesPart) check(v *View, c *Call) Decision {
	if !f.write {
		return Allow()
	}
	if v.Owner.Session == "" {
		return homeless(c)
	}
	paths, ok := f.paths(c)
	switch {
	case !ok && f.missing == allowMissing:
		return Allow()
	case !ok:
		return Decision{
			Code: stopgate.CodeKeyUnavailable, Public: "This call must name its file in " + f.key.label()[len("path "):] + ", plainly and once.",
			Meta: map[string]string{"tool": string(c.Tool)},
		}
	}
	for _, p := range paths {
		if known, pending := f.knows(v, c, p); !known {
			return f.unread(c, pending)
		}
	}
	return Allow()
}

func (f *Files) knows(v *View, c *Call, path string) (known, pending bool) {
	key := f.cell(path)
	own := v.cell(key)
	broken := uint64(0)
	if !f.broken.Empty() { // otherwise nothing takes knowledge away
		broken = max(own.Broken, v.cell(f.everything()).Broken)
		for dir, ok := parent(path); ok; dir, ok = parent(dir) {
			broken = max(broken, v.cell(f.cell(dir)).Broken)
		}
	}
	want := ""
	if len(f.hash) > 0 {
		leaf, _ := f.hash.Find(c.Args)
		if want = strings.ToLower(leaf.Text()); want == "" {
			return false, false
		}
	}
	for i := len(own.Permits) - 1; i >= 0; i-- {
		p := &own.Permits[i]
		age := v.Now - p.At
		switch {
		case !v.stands(p, broken), f.observed && !p.Observed, !p.Certain && !f.unknown:
			continue
		case f.within > 0 && (age < 0 || age > f.within):
			continue
		}
		// With a content hash only the newest knowledge counts.
		return want == "" || want == p.Hash, false
	}
	return false, underWay(v, &key, own, broken)
}

func (f *Files) unread(c *Call, pending bool) Decision {
	d := Decision{Code: stopgate.CodeReadRequired, Public: f.public, Missing: f.reads.Names()}
	d.Meta = map[string]string{"tool": string(c.Tool)}
	switch {
	case pending:
		d.Code = stopgate.CodePrerequisitePending
	case d.Public == "":
		names := f.reads.Names()
		if len(names) > 3 {
			names = names[:3]
		}
		d.Public = "Read this file first, with " + strings.Join(names, " or ") + "."
	}
	return d
}
