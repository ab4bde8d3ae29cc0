package cli

import (
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/stopgate/stopgate/internal/system/tty"
)

// OpenTerminal opens the terminal of the process, at which a person sits. Input that any program
// could give that can start a command does not answer questions (S4). otherwise is another way,
// "" if there is none.
func OpenTerminal(otherwise string) (*tty.Terminal, error) {
	t, err := tty.Open()
	if errors.Is(err, tty.ErrNone) {
		return nil, Hinted(errors.New("this needs a terminal with a person at it, and there is none"), "run it yourself in a terminal"+otherwise)
	}
	return t, err
}

// Operator names who runs the command, for the record.
func Operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprint("uid ", os.Getuid())
}
