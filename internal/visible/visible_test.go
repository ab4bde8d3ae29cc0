package visible

import "testing"

// Proves H14.
func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "src/naïve 世界.go", "src/naïve 世界.go"},
		{"escape sequence", "\x1b[2J", `\u{1b}[2J`},
		{"8-bit controls", "\u009b2J\u009d", `\u{9b}2J\u{9d}`},
		{"lines", "a\r\nb\tc", `a\u{d}\nb\tc`},
		{"right to left", "a\u202egpj.exe", `a\u{202e}gpj.exe`},
		{"zero width", "r\u200bm\ufeff", `r\u{200b}m\u{feff}`},
		{"fillers that are letters", "\u3164\u115f\uffa0\u2800", `\u{3164}\u{115f}\u{ffa0}\u{2800}`},
		{"variation selectors", "a\ufe0f\U000e0100", `a\u{fe0f}\u{e0100}`},
		{"tags", "\U000e0041", `\u{e0041}`},
		{"marks that strike out", "rm\u0336 a\u20e0", `rm\u{336} a\u{20e0}`},
		{"two spellings of one letter", "\u00e9e\u0301", "\u00e9e\\u{301}"},
		{"marks of a script", "\u0939\u093f\u0928\u094d", "\u0939\u093f\u0928\u094d"},
		{"spaces that are none", "a\u00a0b\u3000", `a\u{a0}b\u{3000}`},
		{"bad UTF-8", "a\xff", `a\xff`},
		{"an escape that was there", `\u{1b}`, `\\u{1b}`},
	}
	for _, test := range tests {
		if got := Text(test.in); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// Proves H14: a text of several lines cannot pass for several messages.
func TestLines(t *testing.T) {
	if got, want := Lines("a\nstopgate: b\x1b"), "a\n  stopgate: b\\u{1b}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestElide(t *testing.T) {
	if got, want := Elide("0123456789012345678901234567890123456789", 12), "01234567 … 28 more … 6789"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Elide("short", 3); got != "short" {
		t.Errorf("a text that an ellipsis would not shorten became %q", got)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"a/b-c.toml": "a/b-c.toml", "": "''", "a b": "'a b'", "$(rm x)": "'$(rm x)'", "it's": `'it'\''s'`,
		"-x": "'-x'", "a\x1bb": `$'a\x1bb'`, "é\n'": `$'\xc3\xa9\x0a\x27'`,
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
