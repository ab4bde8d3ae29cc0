package policies

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// maxDepth bounds the directories above a path whose cells are looked at.
const maxDepth = 32

// file returns the cell of a path.
func (f *Files) file(path string) session.Key {
	return session.Key{Space: session.SpacePath, Name: f.name, Value: session.ValueOf(path)}
}

// everything returns the cell that a call without a path invalidates.
func (f *Files) everything() session.Key {
	return session.Key{Space: session.SpaceBroken, Name: f.name}
}

// parent returns the directory of a path; ok is false for the root. "a/b/c" is in "a/b", in
// "a" and in "".
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

// tooDeep reports whether a path is in more than [maxDepth] directories.
func tooDeep(path string) bool {
	ok := true
	for n := 0; ok; n++ {
		if n > maxDepth {
			return true
		}
		path, ok = parent(path)
	}
	return false
}

// paths returns the paths that a call reads or writes.
func (f *Files) paths(c *session.Call) (paths []string, ok bool) {
	paths, ok = f.key.values(c)
	if !f.broken.Empty() && slices.ContainsFunc(paths, tooDeep) {
		return nil, false
	}
	return paths, ok
}

// Needs returns the cells of the written paths and of the directories above them.
func (f *Files) Needs(c session.Call) []session.Key {
	if !f.writes.Match(c.Tool) {
		return nil
	}
	paths, ok := f.paths(&c)
	if !ok {
		return nil
	}
	var cells []session.Key
	breakable := !f.broken.Empty()
	if breakable {
		cells = append(cells, f.everything())
	}
	for _, p := range paths {
		for dir, ok := parent(p); ok && breakable; dir, ok = parent(dir) {
			cells = append(cells, f.file(dir))
		}
		cells = append(cells, f.file(p))
	}
	return cells
}

// Marks returns the files that the session knows once the call succeeds, and those that the
// call invalidates.
func (f *Files) Marks(c session.Call) []session.Mark {
	var marks []session.Mark
	if f.broken.Match(c.Tool) {
		marks = f.invalidated(&c)
	}
	reads := f.reads.Match(c.Tool)
	if !reads && !f.writes.Match(c.Tool) {
		return marks
	}
	paths, ok := f.paths(&c)
	if !ok {
		return marks
	}
	for _, p := range paths {
		marks = append(marks, session.Mark{Key: f.file(p), Permits: true, Opens: reads, Absent: reads})
	}
	return marks
}

// invalidated returns the marks of a call that moves or deletes: the paths that it names,
// or everything if they cannot be read.
func (f *Files) invalidated(c *session.Call) []session.Mark {
	everything := []session.Mark{{Key: f.everything(), Breaks: true}}
	var marks []session.Mark
	for _, pointer := range f.moves {
		leaves, ok := pointer.All(nil, c.Args)
		paths, plain := f.key.texts(leaves, true)
		if !ok || !plain {
			return everything
		}
		for _, p := range paths {
			marks = append(marks, session.Mark{Key: f.file(p), Breaks: true})
		}
	}
	if len(marks) == 0 {
		return everything
	}
	return marks
}

// Check denies a write while the session does not know every path that it names.
func (f *Files) Check(v session.View, c session.Call) session.Decision {
	if !f.writes.Match(c.Tool) {
		return session.Allow()
	}
	if v.Owner.Session == "" {
		return withoutSession(&c)
	}
	paths, ok := f.paths(&c)
	switch {
	case !ok && f.missing == allowMissing:
		return session.Allow()
	case !ok:
		return session.Decision{
			Code: stopgate.CodeKeyUnavailable, Public: "This call must name its file in " + f.key.label()[len("path "):] + ", plainly and once.",
			Meta: map[string]string{"tool": string(c.Tool)},
		}
	}
	var first session.Decision
	var unread []string
	for _, p := range paths {
		known, waiting := f.known(&v, &c, p)
		switch {
		case known:
			continue
		case unread == nil:
			first = f.unread(&c, waiting)
		}
		if unread = append(unread, p); !f.ask {
			return first
		}
	}
	switch len(unread) {
	case 0:
		return session.Allow()
	case 1:
		return asks(f.ask, first, unread[0]+" was not read in this session")
	}
	return asks(f.ask, first, valueList(unread)+" were not read in this session")
}

// known reports whether the session knows a path; waiting reports that a call that would
// show it is open.
func (f *Files) known(v *session.View, c *session.Call, path string) (known, waiting bool) {
	key := f.file(path)
	own := v.Cell(key)
	broken := uint64(0)
	if !f.broken.Empty() {
		broken = max(own.Broken, v.Cell(f.everything()).Broken)
		for dir, ok := parent(path); ok; dir, ok = parent(dir) {
			broken = max(broken, v.Cell(f.file(dir)).Broken)
		}
	}
	hash := ""
	if len(f.hash) > 0 {
		leaf, _ := f.hash.Find(c.Args)
		if hash = strings.ToLower(leaf.Text()); hash == "" {
			return false, false
		}
	}
	for i := len(own.Permits) - 1; i >= 0; i-- {
		p := &own.Permits[i]
		age := v.Now - p.At
		switch {
		case !v.InForce(*p, broken), f.observed && !p.Observed, !p.Certain && !f.unknown:
			continue
		case f.within > 0 && (age < 0 || age > f.within):
			continue
		}
		// With a content hash only the newest knowledge counts.
		return hash == "" || hash == p.Hash, false
	}
	return false, pending(v, key, own, broken)
}

func (f *Files) unread(c *session.Call, waiting bool) session.Decision {
	d := session.Decision{Code: stopgate.CodeReadRequired, Public: f.public, Missing: f.reads.Names()}
	d.Meta = map[string]string{"tool": string(c.Tool)}
	switch {
	case waiting:
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
