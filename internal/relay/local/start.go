package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/system/owner"
)

// Starter starts a gate as a process of its own, which outlives this one.
type Starter struct {
	// Args are the arguments of this program, without the socket.
	Args []string
	// Dir is the directory in which the gate works.
	Dir string
}

// Start starts a gate that listens at a path. Its log is the file next to the socket whose name ends
// in .log.
func (s *Starter) Start(path string) (<-chan error, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a gate: %w", err)
	}
	log, err := os.OpenFile(path+".log", os.O_RDWR|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start a gate: %w", err)
	}
	cmd := exec.Command(program, append(s.Args, "--api-socket", path)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a gate: %w", err), log.Close())
	}
	ended := make(chan error, 1)
	go func() {
		defer log.Close()
		err := cmd.Wait()
		ended <- fmt.Errorf("stopgate serve ended (%v): %s", err, lastLines(log))
	}()
	return ended, nil
}

// directory makes the directory of a socket, for this user only.
func directory(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return owner.State(dir)
}

// maxLog limits the part of a log that an error shows.
const maxLog = 2 << 10

// lastLines returns the end of a log.
func lastLines(log *os.File) string {
	at, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	text := make([]byte, min(at, maxLog))
	n, _ := log.ReadAt(text, at-int64(len(text)))
	return strings.ToValidUTF8(string(bytes.TrimSpace(text[:n])), "\uFFFD")
}
