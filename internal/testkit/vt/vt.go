// Package vt is a terminal for tests of programs that draw: it shows the text of the screen and of
// its scrollback.
package vt

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// Screen is a terminal. It is safe for concurrent use.
type Screen struct {
	mu       sync.Mutex
	terminal *vt.Emulator
	unknown  []string
}

// New returns a terminal of a size, which writes its answers to queries to replies.
func New(width, height int, replies io.Writer) *Screen {
	s := &Screen{terminal: vt.NewEmulator(width, height)}
	s.terminal.SetLogger(s)
	// Keyboard protocols, which the emulator does not know and terminals without them ignore.
	for _, prefix := range "<>?" {
		s.terminal.RegisterCsiHandler(ansi.Command(byte(prefix), 0, 'u'), ignore)
	}
	s.terminal.RegisterCsiHandler(ansi.Command('>', 0, 'm'), ignore)
	go io.Copy(replies, s.terminal)
	return s
}

func ignore(ansi.Params) bool { return true }

// Close ends the terminal.
func (s *Screen) Close() error { return s.terminal.Close() }

// Printf implements the logger of the emulator, which reports unknown sequences.
func (s *Screen) Printf(format string, args ...any) {
	if strings.HasPrefix(format, "unhandled") {
		s.unknown = append(s.unknown, fmt.Sprintf(format, args...))
	}
}

// Write implements [io.Writer].
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terminal.Write(p)
}

// String returns the scrollback and the screen, without spaces at the ends of lines.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, l := range s.terminal.Scrollback().Lines() {
		lines = append(lines, l.String())
	}
	lines = append(lines, strings.Split(s.terminal.String(), "\n")...)
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Unknown lists the sequences that the terminal does not understand.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unknown...)
}
