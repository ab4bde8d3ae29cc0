package pathform

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// MaxReadings is the maximum number of listed readings of one path (K56).
const MaxReadings = 16

// maxTexts limits the spellings from which the readings of one path are made, maxSpelled their
// bytes.
const (
	maxTexts   = 64
	maxSpelled = 8 << 20
)

// Reading is one way in which some tool could read a path (K56).
type Reading struct {
	// Path is canonical: relative to the root, or absolute with a leading "/". A
	// path that climbs above an unknown root starts with "..". The root is "".
	Path string
	// Glob is set if Path is a pattern that the tool may expand (C15).
	Glob bool
	// Steps are the transformations from the value to Path.
	Steps Steps
}

// Steps is a set of transformations, in the order of the constants.
type Steps uint32

// Transformations by tools, in the order in which they are tried.
const (
	StepURL        Steps = 1 << iota // the path of a URL (C14)
	StepNUL                          // cut at a NUL (A11)
	StepInvisible                    // without control and invisible characters (C16)
	StepCompatible                   // under NFKC, look-alike separators replaced (C7)
	StepDecoded                      // percent-decoded (C13)
	StepDecoded2                     // percent-decoded twice
	StepBackslash                    // backslash as separator (C11)
	StepShare                        // without drive, share or device prefix (C10), or a process's name for a directory (C19)
	StepParameters                   // without ;parameters (C13)
	StepColon                        // without the part after a colon (C9)
	StepTrimmed                      // without trailing dots, spaces and quotes (C8)
	StepHome                         // ~ and variables expanded (C12)
	StepShortName                    // a short name written out (C9)
	StepBraces                       // braces and wildcards expanded (C15)
	StepRoot                         // joined with the root, or made relative to it (C3)
	StepUnclimbed                    // without leading ".." (K18)
	StepDir                          // from the directory of the call
	StepLinks                        // with its links followed (C5)
)

var stepNames = [...]string{
	"path of the URL", "cut at NUL", "invisible characters removed", "compatibility form", "percent-decoded", "percent-decoded again",
	"backslash as separator", "drive or share removed", "parameters removed", "stream or drive removed", "trailing characters trimmed",
	"home and variables expanded", "short name written out", "expanded", "against the root", "leading .. removed", "from the directory of the call", "links followed",
}

// String lists the steps; a path that was only cleaned is "as written".
func (s Steps) String() string {
	var names []string
	for i, name := range stepNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "as written"
	}
	return strings.Join(names, ", ")
}

// Readings returns the plausible readings of a path (K56): every effective combination of the
// transformations, each in canonical form, without repetitions, in a fixed order. The lexically
// cleaned value, relative to the directory of the call, comes first. The list is the same for the
// matcher, for analysis, for keys and for explain.
//
// complete is false if there are more than [MaxReadings], or if the path is too long or has too
// many wildcards to list: see [condition.Unknown]. expands is set if the tool expands wildcards and
// braces (C15).
func Readings(path string, env condition.Env, expands bool) (list []Reading, complete bool) {
	list, unknown := ReadingsOf(path, env, expands, nil)
	return list, unknown == condition.Known
}

// ReadingsOf is Readings with a cache for links. It returns tooLong if the list is incomplete because
// of the length of the path.
func ReadingsOf(path string, env condition.Env, expands bool, way *LinkCache) (list []Reading, unknown condition.Unknown) {
	l := lister{env: env, way: way}
	l.addText(path, 0)
	if !utf8.ValidString(path) {
		l.unknown |= condition.UnknownReading
	} else {
		l.transform(expands)
	}
	for _, t := range l.texts {
		l.addReadings(t)
		l.addReal(t)
	}
	return l.readings, l.unknown
}

// lister collects the spellings of one path and then their readings.
type lister struct {
	env      condition.Env
	way      *LinkCache
	texts    []spelt
	readings []Reading
	unknown  condition.Unknown
	spelled  int // bytes of texts
}

type spelt struct {
	text  string
	glob  bool
	steps Steps
}

func (l *lister) transform(expands bool) {
	for round := 0; ; round++ {
		l.apply(StepURL, 0, urlPath)
		l.apply(StepNUL, 0, beforeNUL)
		l.apply(StepInvisible, 0, spelling.Visible)
		l.apply(StepCompatible, 0, spelling.Compatible)
		if round == 2 {
			break
		}
		step, only := StepDecoded, Steps(0)
		if round == 1 {
			step, only = StepDecoded2, StepDecoded
		}
		if !l.apply(step, only, spelling.PercentDecoded) {
			break
		}
	}
	l.apply(StepBackslash, 0, slashed)
	l.apply(StepShare, 0, withoutShare)
	l.apply(StepShare, 0, withoutProcess)
	l.apply(StepParameters, 0, withoutParameters)
	l.apply(StepColon, 0, withoutColon)
	l.apply(StepTrimmed, 0, trimmedComponents)
	l.apply(StepHome, 0, func(s string) []string { return atHome(s, l.env.Home) })
	l.apply(StepShortName, 0, longNames)
	if expands {
		l.expand()
	}
}

// apply tries a transformation on every spelling so far that has only the steps in only, and keeps
// both. It reports whether anything changed.
func (l *lister) apply(step, only Steps, f func(string) []string) (changed bool) {
	for _, t := range l.texts[:len(l.texts):len(l.texts)] {
		if t.steps&only != only {
			continue
		}
		for _, u := range f(t.text) {
			if u != t.text {
				changed = true
				l.addText(u, t.steps|step)
			}
		}
	}
	return changed
}

func (l *lister) addText(text string, steps Steps) {
	for _, t := range l.texts {
		if t.text == text {
			return
		}
	}
	if len(l.texts) == maxTexts {
		l.unknown |= condition.UnknownReading
		return
	}
	if l.spelled+len(text) > maxSpelled {
		l.unknown |= condition.TooLong
		return
	}
	l.spelled += len(text)
	l.texts = append(l.texts, spelt{text: text, steps: steps})
}

// addReadings resolves a spelling against the root.
func (l *lister) addReadings(t spelt) {
	canonical, info := AppendCanonical(nil, []byte(t.text))
	path := string(canonical)
	root := l.env.Root
	if l.env.Lost && !info.Absolute {
		l.unknown |= condition.UnknownDirectory
	}
	for _, dir := range [...]string{l.env.Dir, l.env.Also} {
		if dir == "" || info.Absolute {
			continue
		}
		absolute, _ := AppendCanonical(nil, []byte(dir+"/"+path))
		there := string(absolute)
		if inside, ok := InsideRoot(there, root); ok {
			there = inside
		}
		l.add(there, t, StepDir)
	}
	switch {
	case info.Absolute:
		if inside, ok := InsideRoot(path, root); ok {
			l.add(inside, t, StepRoot)
			return
		}
		l.add(path, t, 0)
	case info.Climbs:
		l.add(path, t, 0)
		rest := path[min(3*info.ups, len(path)):]
		absolute := "/" + rest
		if root != "" {
			joined, _ := AppendCanonical(nil, []byte(root+"/"+path))
			absolute = string(joined)
			if inside, ok := InsideRoot(absolute, root); ok {
				absolute = inside
			}
		}
		l.add(absolute, t, StepRoot)
		l.add(rest, t, StepUnclimbed)
	default:
		l.add(path, t, 0)
	}
}

// addReal follows the links of a spelling. If the target is unknown, the path may name anything.
func (l *lister) addReal(t spelt) {
	if l.env.Links == nil || t.glob {
		return
	}
	if strings.HasPrefix(t.text, "/") {
		l.follow(t.text, t)
		return
	}
	if from := cmp.Or(l.env.Dir, l.env.Root); from != "" {
		l.follow(from+"/"+t.text, t)
	}
	if l.env.Also != "" {
		l.follow(l.env.Also+"/"+t.text, t)
	}
}

// follow adds the target of an absolute path.
func (l *lister) follow(name string, t spelt) {
	if name = short(name); name == "" {
		return
	}
	real, ok := l.way.Follow(l.env.Links, name)
	if !ok {
		real, ok = l.climb(name)
	}
	if !ok {
		l.unknown |= condition.UnknownWay
		return
	}
	if inside, ok := InsideRoot(real, l.env.Root); ok {
		real = inside
	}
	l.add(real, t, StepLinks)
}

func (l *lister) add(path string, t spelt, steps Steps) {
	for _, r := range l.readings {
		if r.Path == path && r.Glob == t.glob {
			return
		}
	}
	if len(l.readings) == MaxReadings {
		l.unknown |= condition.UnknownReading
		return
	}
	l.readings = append(l.readings, Reading{Path: path, Glob: t.glob, Steps: t.steps | steps})
}

// InsideRoot makes an absolute canonical path below root relative to it, without regard to case,
// since readings are for restrictive conditions.
func InsideRoot(path, root string) (rel string, ok bool) {
	if root == "" {
		return "", false
	}
	if root == "/" {
		return path[1:], true
	}
	head := path
	for at, depth := 0, strings.Count(root, "/"); at < len(path); at++ {
		if path[at] == '/' {
			if depth == 0 {
				head, rel = path[:at], path[at+1:]
				break
			}
			depth--
		}
	}
	return rel, head == root || spelling.Fold(head) == spelling.Fold(root)
}

func beforeNUL(s string) []string {
	before, _, _ := strings.Cut(s, "\x00")
	return []string{before}
}

func slashed(s string) []string { return []string{strings.ReplaceAll(s, `\`, "/")} }
