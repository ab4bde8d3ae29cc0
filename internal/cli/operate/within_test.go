package operate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

// Where peers cannot be checked the gate is in the process of the relay.
func TestConnectWithin(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	policy := filepath.Join(dir, "p.toml")
	if err := os.WriteFile(policy, []byte("version = 1\n[tools.t.policy]\nrun = \"unattended\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, write := io.Pipe()
	read, out := io.Pipe()
	f := &connectFlags{}
	f.policy.Files = []string{policy}
	ended := make(chan error, 1)
	go func() {
		err := f.within(t.Context(), cli.Streams{In: in, Out: out, Err: io.Discard})
		out.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(read)
	next := func() (f map[string]any) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("ended: %v", <-ended)
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := next(); f["hello"] == nil {
		t.Fatal(f)
	}
	fmt.Fprintln(write, `{"id":1,"method":"POST","path":"/v1/calls","body":"{\"tool\":\"t\",\"args\":{}}"}`)
	if f := next(); !strings.Contains(fmt.Sprint(f["body"]), `"status":"allowed"`) {
		t.Error(f)
	}
	write.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	f.policy.Files = []string{filepath.Join(dir, "none.toml")}
	var text strings.Builder
	if err := f.within(t.Context(), cli.Streams{In: strings.NewReader(""), Out: &text, Err: io.Discard}); err == nil || !strings.Contains(text.String(), `{"error":{"code":"gate_unreachable"`) {
		t.Errorf("%v: %s", err, text.String())
	}
}
