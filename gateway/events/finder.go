package events

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/automaton"
	"github.com/stopgate/stopgate/regular"
)

// finders makes finders of one language. An automaton that builds its states while it
// is walked belongs to one finder at a time.
type finders struct {
	begins [utf8.RuneSelf]bool // a match may begin with this byte
	wide   bool                // or with a character beyond them
	pool   sync.Pool
}

// newFinders is nil for a language that no automaton walks.
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

// finder replaces matches in a text that is still arriving: the leftmost first, of
// several that begin there the longest. It holds back what may still become a match,
// and nothing else.
type finder struct {
	*finders
	walker      automaton.Walker
	replacement string
	longest     int
	matches     int

	held  string // text that may become a match: it begins at its first byte
	at    int    // bytes of held that the walk has read
	runes int    // the same in characters
	state uint32 // of the walk
	found int    // where the longest match so far ends; 0 for none
}

// feed takes a piece and returns what is certain.
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

// mayBegin reports whether a match may begin somewhere in a text.
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

// run goes on with a text whose beginning is what was held.
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

// walk reads on until it is known whether a match begins at the text's first byte, and
// where it ends. It reports false if that needs more text.
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
