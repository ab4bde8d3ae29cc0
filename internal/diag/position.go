package diag

import (
	"sort"
	"unicode/utf8"
)

// Position is a place in a text. The zero Position is no place.
type Position struct {
	Offset int // bytes before it
	Line   int // from 1
	Column int // in code points, from 1
}

// IsValid reports whether p is a place.
func (p Position) IsValid() bool { return p.Line > 0 }

// Range is a piece of a text; End is the place behind it. The zero Range is
// nowhere.
type Range struct{ Start, End Position }

// IsValid reports whether r is somewhere.
func (r Range) IsValid() bool { return r.Start.IsValid() }

// To returns the range from the start of r to the end of other.
func (r Range) To(other Range) Range { return Range{r.Start, other.End} }

// Lines finds places in a text.
type Lines struct {
	text   []byte
	starts []int // offset of each line's first byte
}

// NewLines prepares a text. It keeps a reference to it.
func NewLines(text []byte) *Lines {
	l := &Lines{text: text, starts: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// Position returns the place of a byte offset; an offset outside the text is
// moved to its nearest end.
func (l *Lines) Position(offset int) Position {
	offset = max(0, min(offset, len(l.text)))
	line := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset })
	start := l.starts[line-1]
	return Position{Offset: offset, Line: line, Column: utf8.RuneCount(l.text[start:offset]) + 1}
}

// Range returns the place of the bytes from start to end.
func (l *Lines) Range(start, end int) Range {
	return Range{l.Position(start), l.Position(max(start, end))}
}

// line returns a line of the text without its end, nil if there is none.
func (l *Lines) line(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n] - 1
	}
	line := l.text[l.starts[n-1]:end]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}
