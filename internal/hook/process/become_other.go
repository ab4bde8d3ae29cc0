//go:build !unix

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs another program, which reads the event again, and exits with its status. It returns
// only on error.
func become(program string, words []string, event []byte) error {
	cmd := exec.Command(program, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.Exited() {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("start %s: %w", program, err)
}
