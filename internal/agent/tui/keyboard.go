package tui

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/stopgate/stopgate/internal/system/tty"
)

// TTY reads keys from a terminal.
type TTY struct {
	t       *tty.Terminal
	raw     bool
	paste   bool
	keys    chan Keys
	more    chan struct{}
	decoder decoder

	mu      sync.Mutex
	restore func() error
}

var _ Keyboard = (*TTY)(nil)

// NewTTY reads the keys of a terminal one at a time, or in lines unless raw. live reports that the
// terminal understands escape sequences. Close restores the terminal.
//
// A goroutine reads the terminal; it ends with the next key after Close, or with the process.
func NewTTY(t *tty.Terminal, raw, live bool) (*TTY, error) {
	k := &TTY{t: t, raw: raw, paste: raw && live, keys: make(chan Keys), more: make(chan struct{}, 1)}
	if err := k.begin(); err != nil {
		return nil, err
	}
	go k.read()
	return k, nil
}

func (k *TTY) begin() error {
	if !k.raw {
		return nil
	}
	restore, err := k.t.Raw()
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.restore = restore
	k.mu.Unlock()
	if k.paste {
		_, err = io.WriteString(k.t, "\x1b[?2004h")
	}
	return err
}

// Close restores the terminal. It is safe for concurrent and repeated use.
func (k *TTY) Close() error {
	k.mu.Lock()
	restore := k.restore
	k.restore = nil
	k.mu.Unlock()
	if restore == nil {
		return nil
	}
	var err error
	if k.paste {
		_, err = io.WriteString(k.t, "\x1b[?2004l")
	}
	return errors.Join(err, restore())
}

func (k *TTY) read() {
	piece := make([]byte, 4096)
	for range k.more {
		n, err := k.t.Read(piece)
		list := k.decoder.decode(piece[:n])
		if err != nil {
			list = append(list, Keys{Err: err})
		} else if len(list) == 0 {
			k.More() // an incomplete character
			continue
		}
		for i, keys := range list {
			if i > 0 {
				<-k.more
			}
			k.keys <- keys
		}
		if err != nil {
			return
		}
	}
}

// Keys implements [Keyboard].
func (k *TTY) Keys() <-chan Keys { return k.keys }

// More implements [Keyboard].
func (k *TTY) More() {
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// Drain implements [Keyboard].
func (k *TTY) Drain() { k.t.Drain() }

// Lines implements [Keyboard].
func (k *TTY) Lines() bool { return !k.raw }

// Edit implements [Keyboard].
func (k *TTY) Edit(ctx context.Context, name, text string) (string, error) {
	if err := k.Close(); err != nil {
		return "", err
	}
	edited, err := k.t.EditFile(ctx, name, text)
	return edited, errors.Join(err, k.begin())
}
