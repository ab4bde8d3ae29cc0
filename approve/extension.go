package approve

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/visible"
)

// Extension is a grant that a surface offers with a question. Its texts quote the call and are not
// safe to print.
type Extension struct {
	// Name identifies the extension among those of its question: "directory", "subcommand", "host",
	// "file", "tool" or "exact".
	Name  string `json:"name"`
	Title string `json:"title"` // "this directory: src/api"
	// Wider is the Wider of the grant's [Scope].
	Wider []Value `json:"wider,omitempty"`
	// Sentence names all calls that run without a question because of the grant.
	Sentence string `json:"sentence"`
	// Example is a value that asks now and runs unasked with the grant, "" for the call itself.
	Example string `json:"example,omitempty"`
}

// exact is the name of the extension that widens nothing.
const exact = "exact"

// Extensions lists the grants to offer with a question, the most useful first and the exact call last;
// none if no grant is possible. A wider one varies one thing that was part of the call, and is
// offered only where the variation has no other meaning: not for words that a program runs as code,
// that name a remote or a target, or that follow an option which takes a value.
func Extensions(v gate.View) []Extension { return newEntry(v, time.Time{}).Extensions() }

// Extensions lists the grants to offer with a question, see [Extensions].
func (e Entry) Extensions() []Extension {
	if _, err := newGrant(e, Scope{}, string(local), e.Asked); err != nil {
		return nil
	}
	var list []Extension
	// The rule asks because a value is from elsewhere: another value would be, too.
	if !slices.ContainsFunc(e.Origins, func(o stopgate.Origin) bool { return !o.Held }) {
		for _, offers := range []func(Entry) (Extension, bool){subcommandOffer, commandDirectoryOffer, directoryOffer, hostOffer, variedOffer} {
			x, ok := offers(e)
			if !ok || slices.ContainsFunc(list, func(other Extension) bool { return other.Name == x.Name }) {
				continue
			}
			if _, err := newGrant(e, Scope{Wider: x.Wider}, string(local), e.Asked); err == nil {
				x.Sentence += e.constant(x.Wider)
				list = append(list, x)
			}
		}
	}
	same := Extension{Name: exact, Title: "exactly this", Sentence: fmt.Sprintf("%s runs unasked with the same values", e.Tool) + e.constant(nil)}
	return append(list, same)
}

// Extension returns the scope of a grant by the name of its extension. Its error is the reason why no
// grant is possible.
func (e Entry) Extension(name string) (Scope, error) {
	if _, err := newGrant(e, Scope{}, string(local), e.Asked); err != nil {
		return Scope{}, err
	}
	for _, x := range e.Extensions() {
		if x.Name == name {
			return Scope{Wider: x.Wider}, nil
		}
	}
	return Scope{}, fmt.Errorf("%w: it has no extension %q", ErrNoGrant, name)
}

// constant returns the end of a sentence: which values a grant compares, and which not.
func (e Entry) constant(wider []Value) string {
	var free []string
	equal := false
	for _, l := range e.Leaves {
		switch {
		case slices.ContainsFunc(wider, func(w Value) bool { return w.Pointer == l.Pointer }), isOpened(wider, l):
		case Content(l):
			free = append(free, l.Pointer)
		default:
			equal = true
		}
	}
	text := ""
	if names := opened(wider); names != nil {
		text = ", with any " + strings.Join(names, " and ")
	}
	if equal && wider != nil {
		text += "; its other values stay the same"
	}
	if free != nil {
		text += "; any text in " + strings.Join(free, " and ")
	}
	return text
}

// directoryOffer widens every path of a call to a directory that has all of them.
func directoryOffer(e Entry) (x Extension, ok bool) {
	dir, first := "", ""
	var pointers []string
	for _, l := range e.Leaves {
		if l.Type != schema.Path.String() {
			continue
		}
		text, isText := textOf(l.JSON)
		if !isText || !pathform.IsPlain(text) {
			return x, false
		}
		cleaned, _ := pathform.Clean(string(text))
		cleaned = strings.TrimPrefix(cleaned, "./")
		if pointers == nil {
			dir, first = path.Dir(cleaned), cleaned
		}
		for dir != path.Dir(cleaned) && !strings.HasPrefix(path.Dir(cleaned), dir+"/") {
			if dir = path.Dir(dir); dir == "." || dir == "/" {
				return x, false
			}
		}
		pointers = append(pointers, l.Pointer)
	}
	if pointers == nil || !grantableDirectory(dir) {
		return x, false
	}
	for _, p := range pointers {
		x.Wider = append(x.Wider, Value{Pointer: p, How: Below, Text: dir})
	}
	x.Wider = append(x.Wider, e.varied()...)
	x.Name, x.Title = "directory", "this directory: "+dir
	x.Sentence = fmt.Sprintf("%s runs unasked for every path in %s", e.Tool, dir)
	x.Example = dir + "/" + another(path.Base(first))
	return x, true
}

// systemDirectories are the top directories in which no grant of a directory is offered.
var systemDirectories = []string{"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var", "System", "Library", "Applications", "private"}

// grantableDirectory reports whether a grant of a directory is offered: a directory of the project, or
// one three levels below the root of the file system, that no component hides.
func grantableDirectory(dir string) bool {
	rel, absolute := strings.CutPrefix(dir, "/")
	names := strings.Split(rel, "/")
	for _, name := range names {
		if name == "" || name[0] == '.' || name[0] == '~' || strings.ContainsAny(name, `\:$*?[]{}`) || visible.Text(name) != name {
			return false
		}
	}
	return !absolute || len(names) > 2 && !slices.Contains(systemDirectories, names[0])
}

// hostOffer widens the URL of a call to its host, unless the call also sends a text.
func hostOffer(e Entry) (x Extension, ok bool) {
	for _, l := range e.Leaves {
		if Content(l) {
			return x, false
		}
		if l.Type != schema.URL.String() {
			continue
		}
		text, isText := textOf(l.JSON)
		u, plain := weburl.Parse(text)
		scheme := strings.ToLower(string(u.Scheme))
		if x.Name != "" || !isText || !plain || !u.HasHost || scheme != "https" && scheme != "http" || !namesHost(string(u.Host)) {
			return Extension{}, false
		}
		host := strings.ToLower(string(u.Host))
		if len(u.Port) > 0 {
			host += ":" + string(u.Port)
		}
		base := scheme + "://" + host + "/"
		x = Extension{
			Name: "host", Title: "this host: " + host, Wider: []Value{{Pointer: l.Pointer, How: Below, Text: base}},
			Sentence: fmt.Sprintf("%s runs unasked for every %s address at %s", e.Tool, scheme, host), Example: base + "another/page",
		}
	}
	return x, x.Name != ""
}

// namesHost reports whether a host is a name with a domain, or this machine. An address may be that of a
// service which only machines use.
func namesHost(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host == "localhost" || len(last) < len(host) && last != "" && !weburl.IsNumeric([]byte(last)) && host[0] != '['
}

// another is the name of another file of the same kind.
func another(name string) string {
	if ext := path.Ext(name); ext != name && len(ext) < 6 {
		return "another" + ext
	}
	return "another"
}
