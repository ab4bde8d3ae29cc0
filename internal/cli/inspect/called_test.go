package inspect

import (
	"strings"
	"testing"
)

// A row of the log shows the command or the path of a call, on one short line.
func TestCalledWith(t *testing.T) {
	for args, want := range map[string]string{
		`{"description":"lists","command":"ls -la && rm -rf build"}`: "ls -la && rm -rf build",
		`{"timeout":5,"command":["bash","-lc","ls"]}`:                "bash -lc ls",
		`{"command":[],"path":"src/a"}`:                              "src/a",
		`{"command":[["ls"]],"description":"x"}`:                     "x",
		`{"old_string":"a","new_string":"b","file_path":"src/a.go"}`: "src/a.go",
		`{"paths":["a","b"]}`:                                        "a b",
		`{"command":"a\nb\u001b[31m"}`:                               "a\\nb\\u{1b}[31m",
		`{"n":1}`:                                                    `{"n":1}`,
		`{}`:                                                         "",
		`[1]`:                                                        "",
	} {
		if got := calledWith([]byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := calledWith([]byte(`{"command":"` + strings.Repeat("a", 500) + `"}`)); len(got) > 2*maxCalled {
		t.Errorf("%d characters: %s", len(got), got)
	}
}
