package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestColours(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a.toml:1:2: error SG0301: rule 2", "a.toml:1:2: \x1b[1;31merror SG0301\x1b[0m: rule 2"},
		{"a.toml:1:2: warning SG0404: x\n 1 | y\n   |   ^^\n", "a.toml:1:2: \x1b[1;33mwarning SG0404\x1b[0m: x\n 1 | y\n   |   \x1b[32m^^\x1b[0m\n"},
		{"deny: No. (x)\n", "\x1b[1;31mdeny\x1b[0m: No. (x)\n"},
		{"ask by rule 1, a.toml:3: x", "\x1b[1;33mask\x1b[0m by rule 1, a.toml:3: x"},
		{"2026-11-21 10:00:00  denied            fs_write  x", "2026-11-21 10:00:00  \x1b[31mdenied\x1b[0m            fs_write  x"},
		{"  reason    deny: no verdict", "  reason    deny: no verdict"},
	} {
		if got := painted(c.text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
		var out bytes.Buffer // no terminal
		if got := Coloured(&out, c.text); got != c.text || strings.Contains(got, "\x1b") {
			t.Errorf("%q has colours where nobody sees them: %q", c.text, got)
		}
	}
}
