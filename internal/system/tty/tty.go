// Package tty opens the terminal that a command was started from, regardless of its standard
// streams: a program that only has pipes cannot answer there in a person's name (S4).
//
//	t, err := tty.Open()
//	if errors.Is(err, tty.ErrNone) {
//		// started without a terminal: by a service, or by an agent's tool
//	}
//	defer t.Close()
//	t.Drain()
package tty

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"
)

// ErrNone reports that there is no controlling terminal.
var ErrNone = errors.New("there is no terminal")

// Terminal is a controlling terminal. It is a reader and a writer.
type Terminal struct {
	*os.File
	in *bufio.Reader
}

// Open opens the controlling terminal of the process.
func Open() (*Terminal, error) {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	return &Terminal{File: f, in: bufio.NewReader(f)}, nil
}

// Drain discards input that was typed and not read yet, because it cannot answer a question that
// was not shown (H15).
func (t *Terminal) Drain() {
	t.in.Reset(t.File)
	drain(t.File)
}

// Size returns the columns and lines of the terminal, or zero.
func (t *Terminal) Size() (columns, lines int) { return Size(t) }

// Size returns the columns and lines of a terminal, or zero.
func Size(f interface{ Fd() uintptr }) (columns, lines int) {
	columns, lines, err := term.GetSize(f.Fd())
	if err != nil {
		return 0, 0
	}
	return columns, lines
}

// Is reports whether a file is a terminal.
func Is(f interface{ Fd() uintptr }) bool { return term.IsTerminal(f.Fd()) }

// Line reads one line, after discarding earlier input.
func (t *Terminal) Line() (string, error) {
	text, err := t.in.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", err
	}
	return strings.TrimSpace(text), nil
}

// Password shows a text and reads a line without showing it.
func (t *Terminal) Password(prompt string) (string, error) {
	if _, err := fmt.Fprint(t, prompt); err != nil {
		return "", err
	}
	text, err := term.ReadPassword(t.Fd())
	fmt.Fprintln(t)
	return string(text), err
}

// Code returns a random number of four digits, which only a person who sees the terminal knows.
func Code() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(10_000))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%04d", n), nil
}

// Edit opens the arguments of a call in the editor of VISUAL or EDITOR.
func (t *Terminal) Edit(ctx context.Context, text string) (edited string, err error) {
	return t.EditFile(ctx, "arguments.json", text)
}

// EditFile is Edit with another file name.
func (t *Terminal) EditFile(ctx context.Context, name, text string) (edited string, err error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	dir, err := os.MkdirTemp("", "stopgate-") // only for this user
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	// The setting may contain arguments, so a shell splits it; the file name is passed as a
	// parameter.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.File, t.File, t.File
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor: %w", err)
	}
	changed, err := os.ReadFile(file)
	return string(changed), err
}
