package events

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// finders creates finders of one language. An automaton that builds its states lazily belongs to
// one finder at a time.
type finders struct {
	begins [utf8.RuneSelf]bool // bytes with which a match may start
	wide   bool                // a match may start with a character beyond ASCII
	pool   sync.Pool
}

// newFinders returns nil for a language that cannot be compiled to an automaton.
func newFinders(l *regular.Language) *finders {
	w := l.Walker()
	if w == nil {
		return nil
	}
	f := &finders{}
	for c := range rune(utf8.RuneSelf) {
		f.begins[c] = w.Fate(w.Next(w.First(), c)) != automaton.Rejects
	}
	for _, c := range w.Cuts() {
		if c = max(c, utf8.RuneSelf); w.Fate(w.Next(w.First(), c)) != automaton.Rejects {
			f.wide = true
		}
	}
	f.pool.New = func() any { return &finder{walker: l.Walker()} }
	return f
}

func (fs *finders) get(o Redaction) *finder {
	f := fs.pool.Get().(*finder)
	*f = finder{finders: fs, walker: f.walker, replacement: o.Replacement, longest: o.Longest}
	return f
}

func (fs *finders) put(f *finder) { fs.pool.Put(f) }

// finder replaces matches in a text that is still arriving: the leftmost match, and of several
// matches that start there the longest. It buffers only text that may still become a match.
type finder struct {
	*finders
	walker      automaton.Walker
	replacement string
	longest     int
	matches     int

	held  string // buffered text, which may become a match from its first byte
	at    int    // bytes of held that the automaton has read
	runes int    // the same in characters
	state uint32 // current state of the automaton
	found int    // end of the longest match so far, or 0
}

// feed processes a chunk and returns the text that is final.
func (f *finder) feed(piece string) string {
	if f.held == "" && !f.mayBegin(piece) {
		return piece
	}
	return f.run(f.held+piece, false)
}

// flush returns the rest at the end of the text.
func (f *finder) flush() string {
	if f.held == "" {
		return ""
	}
	return f.run(f.held, true)
}

// mayBegin reports whether a match may start somewhere in a text.
func (f *finder) mayBegin(text string) bool {
	for i := range len(text) {
		if f.begin(text[i]) {
			return true
		}
	}
	return false
}

func (f *finder) begin(c byte) bool {
	if c < utf8.RuneSelf {
		return f.begins[c]
	}
	return f.wide
}

// run processes a text that starts with the buffered text.
func (f *finder) run(text string, last bool) string {
	var out strings.Builder
	walking := f.held != ""
	f.held = ""
	for text != "" {
		if !walking {
			n := 0
			for n < len(text) && !f.begin(text[n]) {
				n++
			}
			out.WriteString(text[:n])
			if text = text[n:]; text == "" {
				break
			}
			f.at, f.runes, f.found, f.state = 0, 0, 0, f.walker.First()
		}
		walking = false
		if !f.walk(text, last) {
			f.held = text
			break
		}
		if f.found > 0 {
			f.matches++
			out.WriteString(f.replacement)
			text = text[f.found:]
			continue
		}
		_, n := utf8.DecodeRuneInString(text)
		out.WriteString(text[:n])
		text = text[n:]
	}
	return out.String()
}

// walk reads until it is known whether a match starts at the first byte, and where it ends. It
// returns false if that requires more text.
func (f *finder) walk(text string, last bool) bool {
	for f.at < len(text) {
		if !last && !utf8.FullRuneInString(text[f.at:]) {
			return false
		}
		r, n := utf8.DecodeRuneInString(text[f.at:])
		f.state = f.walker.Next(f.state, r)
		f.at += n
		f.runes++
		fate := f.walker.Fate(f.state)
		if f.walker.Accepting(f.state) {
			f.found = f.at
		}
		if fate == automaton.Rejects || f.runes >= f.longest {
			return true
		}
	}
	return last
}
