package dropfs

import (
	"errors"
	"io"
)

type file struct {
	fs   *FS
	node *inode
}

func (h *file) ReadAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step(Read); err != nil {
		return 0, err
	}
	if off >= int64(len(h.node.view)) {
		return 0, io.EOF
	}
	n := copy(p, h.node.view[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.fs.step(Write)
	var partial Partial
	switch {
	case errors.As(err, &partial):
		p = p[:min(partial.Keep, len(p))]
	case errors.Is(err, ErrPower):
	case err != nil:
		return 0, err
	}
	at := len(h.node.view)
	h.node.view = append(h.node.view, p...)
	if len(p) > 0 {
		h.node.pend = append(h.node.pend, change{at: at, data: append([]byte(nil), p...)})
	}
	return len(p), err
}

func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step(Truncate); err != nil {
		return err
	}
	if int(size) < len(h.node.view) {
		h.node.view = h.node.view[:size:size]
		h.node.pend = append(h.node.pend, change{at: int(size)})
	}
	return nil
}

func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step(Sync); err != nil {
		for i := range h.node.pend {
			h.node.pend[i].lost = h.node.pend[i].lost || !errors.Is(err, ErrPower)
		}
		return err
	}
	if h.fs.NoSync {
		return nil
	}
	for _, c := range h.node.pend {
		switch {
		case c.lost:
		case c.data == nil:
			h.node.disk = h.node.disk[:min(c.at, len(h.node.disk))]
		default:
			h.node.disk = put(h.node.disk, c.at, c.data)
		}
	}
	h.node.pend = nil
	return nil
}

func (h *file) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.step(Size); err != nil {
		return 0, err
	}
	return int64(len(h.node.view)), nil
}

func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.node.locked = false
	return nil
}
