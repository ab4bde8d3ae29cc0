package operate

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/system/tty"
)

// confirm asks the person at the terminal to type a code: question, "Type CODE" and purpose are
// shown. The error of another answer is refused. otherwise is as for [cli.OpenTerminal].
func confirm(otherwise, question, purpose, refused string) error {
	t, err := cli.OpenTerminal(otherwise)
	if err != nil {
		return err
	}
	defer t.Close()
	code, err := tty.Code()
	if err != nil {
		return err
	}
	t.Drain()
	if _, err := fmt.Fprintf(t, "%sType %s %s", question, code, purpose); err != nil {
		return err
	}
	if line, err := t.Line(); err != nil || line != code {
		return errors.Join(errors.New(refused), err)
	}
	return nil
}
