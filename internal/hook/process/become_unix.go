//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// become replaces this process by another program, which reads the event again. It returns only on
// error.
func become(program string, words []string, event []byte) error {
	// A file without a name: a pipe would need a writer.
	f, err := os.CreateTemp("", ".stopgate-*")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	_, err = f.Write(event)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err == nil {
		err = unix.Dup2(int(f.Fd()), 0)
	}
	if err != nil {
		return errors.Join(errors.New("pass the event to the full program"), err)
	}
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, append([]string{program}, words...), os.Environ()))
}
