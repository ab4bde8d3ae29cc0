package hosts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/visible"
)

// residentJSON reports whether hooks ask a resident; it changes only by addition.
type residentJSON struct {
	Answers bool   `json:"answers"`
	Says    string `json:"says"` // its version and work, or why it is not asked
}

// residentOf asks the programs of the installed hooks whether they trust a resident; nil where
// there is none. Without hooks it asks the program that would be installed.
func residentOf(ctx context.Context, found []checkup) *residentJSON {
	path, ok := ask.Path()
	if !ok {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	var programs []string
	hooks := 0
	for _, c := range found {
		for _, line := range c.Commands {
			hooks++
			if program, small := install.Program(line); small && !slices.Contains(programs, program) {
				programs = append(programs, program)
			}
		}
	}
	switch own, err := os.Executable(); {
	case err == nil && hooks == 0:
		small := smallBeside(own)
		if small == "" {
			return &residentJSON{Says: "this stopgate has no stopgate-hook beside it that could ask"}
		}
		programs = []string{small}
	case len(programs) == 0:
		return &residentJSON{Says: "only stopgate-hook asks, and no installed hook starts it"}
	}
	var r *residentJSON
	for _, program := range programs {
		if r = residentFor(ctx, program); !r.Answers {
			if len(programs) > 1 {
				r.Says = program + ": " + r.Says
			}
			return r
		}
	}
	return r
}

// residentFor asks a small program whether it trusts a resident, as hooks would.
func residentFor(ctx context.Context, small string) *residentJSON {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, small, "serve", "--status")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	r := &residentJSON{Answers: cmd.Run() == nil}
	if r.Says = strings.TrimSpace(out.String()); !r.Answers {
		_, r.Says, _ = strings.Cut(strings.TrimSpace(said.String()), "hooks: ")
	}
	return r
}

// alone repeats a canary that a resident answered, through the program that asks none, and
// returns the problem with that answer.
func (c *checkup) alone(ctx context.Context, h *hook.Host, at install.Location, line string) (problem string) {
	command, ok := install.Parse(line)
	if !ok || !command.Small || !isSmall(command.Program) || !residentFor(ctx, command.Program).Answers {
		return ""
	}
	command.Program, command.Small = filepath.Join(filepath.Dir(command.Program), "stopgate"+filepath.Ext(command.Program)), false
	p, err := install.Make(h.Name, at, command)
	if err != nil {
		return err.Error()
	}
	began := time.Now()
	reply, err := canary(ctx, h, p.Line)
	c.AloneMillis = max(time.Since(began).Milliseconds(), 1)
	switch said := string(reply.Stdout) + string(reply.Stderr); {
	case err != nil:
		return "without the resident: " + err.Error()
	case !h.Blocks(reply) || !hook.IsPolicyDenial(said):
		return "the resident denied what must be denied; without it the hook did not: " + visible.Elide(said, 200)
	}
	return ""
}

func (r *residentJSON) print(w io.Writer) {
	switch {
	case r == nil:
	case r.Answers:
		fmt.Fprintf(w, "resident: hooks ask %s\n", visible.Text(r.Says))
	default:
		fmt.Fprintf(w, "resident: hooks ask none and decide themselves: %s\n", visible.Text(r.Says))
	}
}
