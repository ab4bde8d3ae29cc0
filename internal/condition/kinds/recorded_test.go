package kinds_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// recorded decodes a JSON Lines file of the collection.
func recorded[T any](t *testing.T, elem ...string) []T {
	t.Helper()
	f, err := os.Open(corpus.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Proves K4: real agents write plain paths: cleaning changes none, none has a second reading, and
// the protected list matches none of them.
func TestRecordedPathsArePlain(t *testing.T) {
	list := protected.New(condition.Env{})
	n := 0
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				walk(k, member)
			}
		case []any:
			for _, element := range v {
				walk(key, element)
			}
		case string:
			if key != "path" && key != "paths" {
				return
			}
			n++
			cleaned, plain := pathform.Clean(v)
			if list, complete := pathform.Readings(v, condition.Env{}, false); cleaned != v || !plain || len(list) != 1 || !complete {
				t.Errorf("%q: cleaned to %q, plain %v, readings %v", v, cleaned, plain, list)
			}
			if p, entry := list.Path([]byte(v)); p != condition.Unprotected {
				t.Errorf("%q is protected by %q", v, entry)
			}
		}
	}
	for _, call := range recorded[struct{ Args any }](t, "toolcalls", "coding-agent.jsonl") {
		walk("", call.Args)
	}
	if n < 300 {
		t.Errorf("only %d paths", n)
	}
}

// Proves S4: the protected list matches hardly any of the commands that their collector labelled as
// safe.
func TestRecordedCommands(t *testing.T) {
	list := protected.New(condition.Env{})
	safe, analysable, touched := 0, 0, 0
	for _, c := range recorded[struct {
		Command string
		Safe    bool
	}](t, "commands", "labelled.jsonl") {
		if !c.Safe {
			continue
		}
		safe++
		if commandline.Analyse(c.Command).Analysable {
			analysable++
		}
		if p, entry := list.Command([]byte(c.Command)); p != condition.Unprotected {
			touched++
			t.Logf("%q touches %q", c.Command, entry)
		}
	}
	t.Logf("%d safe commands, %d analysable, %d touch the protected list", safe, analysable, touched)
	if touched*50 > safe {
		t.Error("the protected list is too wide")
	}
}
