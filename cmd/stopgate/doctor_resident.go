package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stopgate/stopgate/hook/ask"
	"github.com/stopgate/stopgate/internal/visible"
)

// residentJSON says whether hooks ask a resident; its JSON changes only by addition.
type residentJSON struct {
	Answers bool   `json:"answers"`
	Says    string `json:"says"` // its version and work, or why it is not asked
}

// residentOf lets the small program say whether it believes a resident, as hooks would;
// nil where there is none.
func residentOf(ctx context.Context) *residentJSON {
	path, ok := ask.Path()
	if !ok {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	own, err := os.Executable()
	if err != nil {
		return nil
	}
	small := smallBeside(own)
	if small == "" {
		return &residentJSON{Says: "this stopgate has no stopgate-hook beside it that could ask"}
	}
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

func (r *residentJSON) print(w io.Writer) {
	switch {
	case r == nil:
	case r.Answers:
		fmt.Fprintf(w, "resident: hooks ask %s\n", visible.Text(r.Says))
	default:
		fmt.Fprintf(w, "resident: hooks ask none and decide themselves: %s\n", visible.Text(r.Says))
	}
}
