package cli

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/stopgate/stopgate/internal/system/tty"
)

// Streams are data in, data out and talk.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Output remembers that output was lost: help and version are written by code that
// does not look.
type Output struct {
	To  io.Writer
	mu  sync.Mutex
	err error
}

// Write implements [io.Writer].
func (w *Output) Write(text []byte) (int, error) {
	n, err := w.To.Write(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// OutputFile is the file that output goes to, which may be a terminal.
func OutputFile(out io.Writer) (*os.File, bool) {
	if w, ok := out.(*Output); ok {
		out = w.To
	}
	if t, ok := out.(*tty.Terminal); ok {
		return t.File, true
	}
	f, ok := out.(*os.File)
	return f, ok
}

// Status is a command's exit code: a command whose output was lost did not succeed.
func (w *Output) Status(s Streams, code int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || code != ExitOK {
		return code
	}
	fmt.Fprintf(s.Err, "stopgate: write the output: %v\n", w.err)
	return ExitTrouble
}
