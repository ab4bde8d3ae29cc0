package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/prove"
)

// full is a standard output without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Proves FM9: time that has elapsed when the program begins counts: an event that does not end is
// denied when the host's timeout ends, not later.
func TestSpentTimeCounts(t *testing.T) {
	w := newWorld(t)
	never, event := io.Pipe()
	defer event.Close()
	var out, stderr bytes.Buffer
	code, ok := process.Program{Compile: prove.Compile, Spent: time.Hour}.Main([]string{"claude-code", "--store", w.store, "--deadline", "1h"}, process.Streams{In: never, Out: &out, Err: &stderr})
	if !ok || code != 2 || !strings.Contains(stderr.String(), "policy_timeout") {
		t.Errorf("%d %t %s%s", code, ok, out.String(), stderr.String())
	}
}

// Proves FM9: of any deadline a fifth, or five seconds, is reserved for the answer, and no single
// step of a decision may use up all the rest.
func TestMargin(t *testing.T) {
	for deadline, hold := range map[time.Duration]time.Duration{
		500 * time.Millisecond: 400 * time.Millisecond, 10 * time.Second: 8 * time.Second, 24 * time.Second: 19200 * time.Millisecond,
		25 * time.Second: 20 * time.Second, 10 * time.Minute: 595 * time.Second,
	} {
		l := process.Limits(deadline)
		if l.Hold != hold || l.Policy > min(hold, 2*time.Second) || l.Store > min(hold, 8*time.Second) || l.Record > min(hold, 8*time.Second) {
			t.Errorf("%s: %+v", deadline, l)
		}
	}
}

// Proves FM9, I14: an invalid command line and an answer that cannot be written block with any
// policy; observe mode blocks nothing.
func TestFailuresBlock(t *testing.T) {
	w := newWorld(t)
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c"}`, w.other)
	for _, c := range []struct {
		name string
		args []string
		out  io.Writer
		code int
	}{
		{"the call runs", []string{"claude-code", "--store", w.store}, io.Discard, 0},
		{"an answer that cannot be written", []string{"claude-code", "--store", w.store, "--fewer-prompts"}, full{}, 2},
		{"the same while observing", []string{"claude-code", "--store", w.store, "--observe"}, full{}, 0},
		{"no host", []string{"--store", w.store}, io.Discard, 2},
		{"two hosts", []string{"claude-code", "codex", "--store", w.store}, io.Discard, 2},
		{"an unknown host", []string{"clawed", "--store", w.store}, io.Discard, 2},
		{"an unknown flag", []string{"claude-code", "--alow"}, io.Discard, 2},
		{"an unknown kind of store", []string{"claude-code", "--store", "etcd://x"}, io.Discard, 2},
		{"a policy that is not there", []string{"claude-code", "--store", w.store, "--policy", "/nowhere/stopgate.toml"}, io.Discard, 2},
	} {
		var stderr bytes.Buffer
		code, ok := process.Program{Compile: prove.Compile}.Main(c.args, process.Streams{In: strings.NewReader(event), Out: c.out, Err: &stderr})
		if !ok || code != c.code || code != 0 && stderr.Len() == 0 {
			t.Errorf("%s: status %d, %q", c.name, code, stderr.String())
		}
	}
}
