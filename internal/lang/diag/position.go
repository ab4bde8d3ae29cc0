package diag

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf8"
)

// Position is a position in a text. The zero Position is invalid.
type Position struct {
	Offset int // in bytes, from 0
	Line   int // from 1
	Column int // in code points, from 1
}

// IsValid reports whether p is a position in a text.
func (p Position) IsValid() bool { return p.Line > 0 }

// Range is a half-open range of a text: End is the position after its last byte. The zero Range is
// invalid.
type Range struct {
	Start, End Position
	// Pack is 0 for a range of the file itself, and n for one of the n-th pack that it uses.
	Pack uint16
}

// IsValid reports whether r is a range of a text.
func (r Range) IsValid() bool { return r.Start.IsValid() }

// To returns the range from the start of r to the end of other.
func (r Range) To(other Range) Range { return Range{r.Start, other.End, r.Pack} }

// Lines converts byte offsets to positions. A lookup takes the same time everywhere, also in a text
// that is one long line.
type Lines struct {
	Pack   uint16 // of the ranges
	text   []byte
	starts []int // offset of each line's first byte
	points []int // code points before each block; nil if every byte is one
}

// block is the number of bytes between two entries of points.
const block = 1 << 6

// NewLines indexes a text. It keeps a reference to text.
func NewLines(text []byte) *Lines {
	l := &Lines{text: text, starts: make([]int, 1, 1+bytes.Count(text, []byte("\n")))}
	for at := bytes.IndexByte(text, '\n') + 1; at > 0; {
		l.starts = append(l.starts, at)
		next := bytes.IndexByte(text[at:], '\n') + 1
		if next == 0 {
			break
		}
		at += next
	}
	if isASCII(text) {
		return l
	}
	points := 0
	l.points = make([]int, 0, len(text)/block+1)
	for i, c := range text {
		if i%block == 0 {
			l.points = append(l.points, points)
		}
		if utf8.RuneStart(c) {
			points++
		}
	}
	return l
}

func isASCII(text []byte) bool {
	var eight uint64
	for ; len(text) >= 8; text = text[8:] {
		eight |= binary.NativeEndian.Uint64(text)
	}
	var one byte
	for _, c := range text {
		one |= c
	}
	return eight&0x8080808080808080 == 0 && one < utf8.RuneSelf
}

// pointsBefore counts the code points before an offset.
func (l *Lines) pointsBefore(offset int) int {
	if len(l.points) == 0 {
		return offset
	}
	b := min(offset/block, len(l.points)-1)
	n := l.points[b]
	for _, c := range l.text[b*block : offset] {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// Position returns the position of a byte offset. An offset outside of the text is moved to its
// nearest end.
func (l *Lines) Position(offset int) Position {
	offset = max(0, min(offset, len(l.text)))
	return l.position(offset, sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset }))
}

// position returns the position of an offset in a known line.
func (l *Lines) position(offset, line int) Position {
	return Position{Offset: offset, Line: line, Column: l.pointsBefore(offset) - l.pointsBefore(l.starts[line-1]) + 1}
}

// Range returns the range of the bytes from start to end.
func (l *Lines) Range(start, end int) Range {
	r := Range{Start: l.Position(start), Pack: l.Pack}
	end = min(max(start, end), len(l.text))
	if line := r.Start.Line; end >= 0 && (line == len(l.starts) || end < l.starts[line]) {
		r.End = l.position(end, line) // most ranges end on the line on which they begin
	} else {
		r.End = l.Position(end)
	}
	return r
}

// line returns line n without its line ending, nil if there is none.
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
