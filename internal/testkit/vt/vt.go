// Package vt is as much of a terminal as tests of programs that draw need: it takes
// what a program writes and says what stands on the screen, scrollback included.
package vt

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Screen is a terminal without colours. It is safe for concurrent use.
type Screen struct {
	mu     sync.Mutex
	width  int
	lines  [][]rune
	row    int
	column int
	rest   []byte
	odd    []string // what it did not understand
}

// New makes a screen of a width; lines that are longer wrap as terminals wrap them.
func New(width int) *Screen { return &Screen{width: width, lines: make([][]rune, 1)} }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append(s.rest, p...)
	s.rest = nil
	for len(b) > 0 {
		n := s.one(b)
		if n == 0 {
			s.rest = append([]byte(nil), b...)
			break
		}
		b = b[n:]
	}
	return len(p), nil
}

// one takes one character or sequence and returns its length, 0 if it is not whole.
func (s *Screen) one(b []byte) int {
	switch b[0] {
	case '\r':
		s.column = 0
		return 1
	case '\n':
		s.down()
		return 1
	case '\b':
		s.column = max(0, s.column-1)
		return 1
	case 0x1b:
		return s.escape(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if r < ' ' {
		s.odd = append(s.odd, fmt.Sprintf("%q", r))
		return n
	}
	if s.column == s.width {
		s.column = 0
		s.down()
	}
	line := s.lines[s.row]
	for len(line) <= s.column {
		line = append(line, ' ')
	}
	line[s.column] = r
	s.lines[s.row] = line
	s.column++
	return n
}

func (s *Screen) down() {
	s.row++
	if s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *Screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		s.odd = append(s.odd, fmt.Sprintf("%q", b[:2]))
		return 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			s.control(b[i], string(b[2:i]))
			return i + 1
		}
	}
	return 0
}

func (s *Screen) control(final byte, args string) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 1
	}
	switch {
	case final == 'A':
		s.row = max(0, s.row-n)
	case final == 'D':
		s.column = max(0, s.column-n)
	case final == 'J' && args == "":
		s.lines = s.lines[:s.row+1]
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
	case final == 'm', (final == 'h' || final == 'l') && args == "?2004":
	default:
		s.odd = append(s.odd, fmt.Sprintf("CSI %s %c", args, final))
	}
}

// String is everything on the screen, without spaces at the ends of lines.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lines {
		out = append(out, strings.TrimRight(string(l), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// Odd lists what was written and is no drawing of a program that behaves.
func (s *Screen) Odd() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.odd...)
}
