package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

// Proves S62: where nothing works, one line says so before anything else, and a hook blocks.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{{"version", cli.ExitTrouble}, {"", cli.ExitTrouble}, {"up --policy p", cli.ExitTrouble}, {"hook claude-code", cli.ExitDenied}} {
		var talk bytes.Buffer
		code, no := unsupported("windows", strings.Fields(c.args), &talk)
		said := talk.String()
		if !no || code != c.code || strings.Count(said, "\n") != 1 || !strings.Contains(said, "WSL 2") {
			t.Errorf("%q: %v %d %q", c.args, no, code, said)
		}
		if strings.Contains(said, "blocked") != (code == cli.ExitDenied) {
			t.Errorf("%q: %q", c.args, said)
		}
	}
	if _, no := unsupported("linux", nil, nil); no {
		t.Error("Linux is supported")
	}
}
