package mcp_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everyone lets everything pass: what remains is what the gate does to the protocol.
const everyone = `version = 1
[gate]
unknown_params = "allow"
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
result = "unattended"
[tools."mcp.sampling".policy]
run = "unattended"
[tools."mcp.elicitation".policy]
run = "unattended"
[tools."mcp.roots".policy]
run = "unattended"
`

// scored is one scenario in the suite's summary.
var scored = regexp.MustCompile(`(?m)^(✓|✗) ([a-z0-9-]+): (\d+) passed, (\d+) failed$`)

// conform runs the official suite against a URL and returns its scenarios, and whether
// it is content.
func conform(t *testing.T, url, revision string) (map[string]string, bool) {
	t.Helper()
	cmd := exec.Command(node, filepath.Join(modules, ".bin", "conformance"), "server", "--url", url, "--requirements", revision)
	cmd.Env, cmd.Dir = home(t), t.TempDir()
	out, err := cmd.CombinedOutput()
	found := map[string]string{}
	for _, m := range scored.FindAllStringSubmatch(string(out), -1) {
		found[m[2]] = m[1] + " " + m[3] + " passed, " + m[4] + " failed"
	}
	if len(found) == 0 {
		t.Fatalf("the suite did not run: %v\n%s", err, out)
	}
	if err != nil {
		t.Logf("%s\n%s", url, out[strings.Index(string(out), "=== SUMMARY"):])
	}
	return found, err == nil
}

// Proves W54: the same scenarios pass through the gate as directly, at both revisions,
// and none that counts fails.
func TestConformance(t *testing.T) {
	for revision, flags := range map[string][]string{"2025-11-25": {"-stateless=false"}, "2026-07-28": nil} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			url := directly(t, flags...)
			want, content := conform(t, url, revision)
			if !content {
				t.Error("the server does not conform directly")
			}
			got, content := conform(t, through(t, write(t, everyone), "ev="+url), revision)
			if !content {
				t.Error("it does not conform through the gate")
			}
			for name, result := range want {
				// The server breaks a stream off and, without a store of events, loses the result:
				// there is nothing that could be the same. It does not count.
				if got[name] != result && name != "server-sse-polling" {
					t.Errorf("%s: %q directly, %q through the gate", name, result, got[name])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d scenarios directly, %d through the gate", len(want), len(got))
			}
		})
	}
}
