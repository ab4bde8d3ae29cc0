package match

import (
	"bytes"
	"io/fs"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// Value is one complete string for several matchers. Its derived forms - whether it is plainly
// written, its parts, its readings - are computed once. A Value is reused with Reset and belongs to
// one goroutine.
type Value struct {
	text  []byte
	valid bool

	examined, plain bool // as a path
	canonical       []byte
	info            lexical
	buf             [256]byte
	low             []byte // of a path, without capital letters

	parsed, strict bool // as a URL
	address        weburl.Address

	lineKnown, otherKnown bool // as a command line
	commands, others      shell.Line
	hasOther              bool
	vector                []byte // memory of text

	list    []Reading // in env, with expands
	unknown Unknown
	listed  bool
	env     condition.Env
	expands bool

	sure     [4]certainty // results of certain for the first few contexts
	contexts int
	words    []*Value // paths of a command line; the first named of them are in use
	named    int
	more     map[string]*Value // words of a line that has many
	own      linkCache         // for its own paths
	trail    *linkCache        // of the line, if the value is a word
}

// certainty is the result of [Value.certain] in a context.
type certainty struct {
	env                  condition.Env
	expands, restrictive bool
	canonical            []byte
	ok                   bool
}

// Reset sets the string, which must not change during the evaluation.
func (v *Value) Reset(text []byte) {
	v.ResetText(text)
	v.valid = utf8.Valid(text)
}

// ResetText is Reset for a string that is known to be UTF-8.
func (v *Value) ResetText(text []byte) {
	v.text, v.valid = text, true
	v.examined, v.parsed, v.lineKnown, v.otherKnown = false, false, false, false
	v.listed, v.list = false, nil
	v.contexts, v.named, v.more = 0, 0, nil
	v.own, v.trail = linkCache{}, nil
}

// fewWords is the number of words that are searched linearly and whose memory is reused.
const fewWords = 32

// word returns a path that a command line names, shared by all conditions.
func (v *Value) word(path []byte) *Value {
	for _, w := range v.words[:v.named] {
		if bytes.Equal(w.text, path) {
			return w
		}
	}
	if v.named == fewWords {
		return v.furtherWord(path)
	}
	if v.named == len(v.words) {
		v.words = append(v.words, new(Value))
	}
	w := v.words[v.named]
	v.named++
	w.read(path, v)
	return w
}

func (v *Value) furtherWord(path []byte) *Value {
	w := v.more[string(path)]
	if w == nil {
		if v.more == nil {
			v.more = make(map[string]*Value)
		}
		w = new(Value)
		w.read(path, v)
		v.more[string(path)] = w
	}
	return w
}

// read makes a value one of a line's words.
func (v *Value) read(path []byte, line *Value) {
	if len(path) > len(v.buf) {
		v.Reset(bytes.Clone(path)) // the memory of a long one is not kept
	} else {
		v.vector = append(v.vector[:0], path...)
		v.Reset(v.vector)
	}
	v.trail = line.way()
	v.trail.solid = line.line().Solid()
}

// linkCache remembers the targets of links during the evaluation of one string: the conditions on
// it, and the words of a command line, follow the same links.
type linkCache struct {
	links *condition.Links
	real  func(path string) (real string, ok bool)
	// solid: a path that does not exist now will be no link when it is used.
	solid bool
	files map[string]listing // by directory
}

// listing is the list of files below a directory.
type listing struct {
	names    []string
	modes    []fs.FileMode
	complete bool
}

// list is [Links.Files], called once for each directory.
func (t *linkCache) list(l *condition.Links, dir string) listing {
	found, known := t.files[dir]
	if !known {
		found.complete = l.Files(dir, func(name string, mode fs.FileMode) {
			found.names, found.modes = append(found.names, name), append(found.modes, mode)
		})
		if t.files == nil {
			t.files = make(map[string]listing)
		}
		t.files[dir] = found
	}
	return found
}

// follow is [Links.Real].
func (t *linkCache) follow(l *condition.Links, path string) (real string, ok bool) {
	if t == nil || l.Walk == nil {
		return l.Real(path)
	}
	if t.links != l {
		t.links, t.real = l, l.Walk()
	}
	return t.real(path)
}

// ResetWords sets the words of an argument vector, which must not change during the evaluation.
// Their text is the command line that a shell would read as them. If complete is false, other words
// may follow, and nothing is certain.
func (v *Value) ResetWords(words [][]byte, complete bool) {
	v.Reset(shell.AppendWords(v.vector[:0], words))
	v.vector = v.text
	v.commands.ReadWords(words, complete)
	v.lineKnown = true
}

// Text returns the string.
func (v *Value) Text() []byte { return v.text }

// Judge evaluates a complete string as [Matcher.Match] does.
func (m *Matcher) Judge(v *Value) bool {
	test, ok := m.text.(sharedTest)
	if !ok || !v.valid || m.exceeds(v.text) {
		return m.Match(v.text)
	}
	return test.judge(v)
}

// sharedTest evaluates a string by its shared derived forms.
type sharedTest interface{ judge(v *Value) bool }

var (
	_ sharedTest         = (*pathTest)(nil)
	_ sharedTest         = eitherPath{}
	_ sharedTest         = (*pathPattern)(nil)
	_ sharedTest         = (*outsideTest)(nil)
	_ sharedTest         = (*commandTest)(nil)
	_ sharedTest         = (*commandPaths)(nil)
	_ sharedTest         = (*urlTest)(nil)
	_ condition.StepTest = (*stepText)(nil)
	_ condition.StepTest = (*lengthTest)(nil)
)

// IsClean reports whether Clean does not change the string, a path (K4).
func (v *Value) IsClean() bool {
	v.examine()
	if v.plain && len(v.canonical) == len(v.text) && len(v.text) > 0 && &v.canonical[0] == &v.text[0] {
		return true // already canonical
	}
	cleaned, _ := Clean(string(v.text))
	return cleaned == string(v.text)
}

func (v *Value) examine() {
	if !v.examined {
		v.canonical, v.info, v.plain = examine(v.buf[:0], v.text)
		v.examined = true
	}
}

// certain is pathContext.certain for the string.
func (v *Value) certain(p *pathContext) (canonical []byte, certain bool) {
	v.examine()
	if p.usual && v.plain && !v.info.absolute && !v.info.wild {
		return v.canonical, true
	}
	for i := range v.sure[:v.contexts] {
		if s := &v.sure[i]; s.expands == p.expands && s.restrictive == p.restrictive && s.env == p.env {
			return s.canonical, s.ok
		}
	}
	canonical, info := v.canonical, v.info
	if v.plain && p.moved(info) {
		canonical, info = p.arrive(canonical, info)
	}
	certain = v.plain && p.admits(canonical, info, v.way())
	if v.contexts < len(v.sure) {
		v.sure[v.contexts] = certainty{p.env, p.expands, p.restrictive, canonical, certain}
		v.contexts++
	}
	return canonical, certain
}

// way returns the link cache of the string.
func (v *Value) way() *linkCache {
	if v.trail != nil {
		return v.trail
	}
	return &v.own
}

// lowered returns a path with its ASCII letters in lower case. The result is valid until the next
// call.
func (v *Value) lowered(path []byte) []byte {
	v.low = append(v.low[:0], path...)
	for i, c := range v.low {
		v.low[i] = spelling.LowerASCII(c)
	}
	return v.low
}

// readings is Readings for the string.
func (v *Value) readings(p *pathContext) (list []Reading, unknown Unknown) {
	if !v.listed || v.env != p.env || v.expands != p.expands {
		v.list, v.unknown = readings(string(v.text), p.env, p.expands, v.way())
		v.listed, v.env, v.expands = true, p.env, p.expands
	}
	return v.list, v.unknown
}

// url is parseURL for the string.
func (v *Value) url() (u *weburl.Address, certain bool) {
	if !v.parsed {
		v.address, v.strict = weburl.Parse(v.text)
		v.parsed = true
	}
	return &v.address, v.strict
}

// line returns the string as a command line.
func (v *Value) line() *shell.Line {
	if !v.lineKnown {
		text := v.text
		if len(text) > Budget {
			text = nil // its length decides every condition on it; it is not analysable
		}
		v.commands.Read(text)
		v.lineKnown = true
	}
	return &v.commands
}

// otherLine returns the line as lenient parsers may see it, nil if that is the same.
func (v *Value) otherLine() *shell.Line {
	if !v.otherKnown {
		other := otherForm(v.text[:min(len(v.text), Budget)])
		if v.otherKnown, v.hasOther = true, other != nil; v.hasOther {
			v.others.Read(other)
		}
	}
	if !v.hasOther {
		return nil
	}
	return &v.others
}
