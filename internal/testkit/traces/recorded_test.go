package traces_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// hashes collects the hash of a trace for each recording, and the traces where somebody
// wants to see them.
type hashes struct {
	lines strings.Builder
	full  strings.Builder
}

func (h *hashes) add(id string, text []byte) {
	sum := sha256.Sum256(text)
	fmt.Fprintf(&h.lines, "%s %x\n", id, sum[:8])
	fmt.Fprintf(&h.full, "%s %s\n", id, text)
}

// check compares the hashes with the golden file of the name.
func (h *hashes) check(t *testing.T, name string) {
	t.Helper()
	golden := filepath.Join("testdata", name+".txt")
	if dir := os.Getenv("STOPGATE_TRACES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(h.full.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(h.lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, h.lines.String(), string(want))
}

// starter is the policy that coding agents begin with, in a project whose files the gate
// does not see.
func starter(t *testing.T) ([]policy.Source, policy.Options) {
	t.Helper()
	files, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	return []policy.Source{{Name: files[0].Name, Text: files[0].Text, Trusted: true}},
		policy.Options{Root: "/srv/project", Home: "/home/u", Known: knowntools.Recognise}
}

// everything is a policy that lets every tool run.
var everything = []policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
[tools."*"]
unknown_params = "allow"
uncovered = "allow"
policy.run = [{ mode = "unattended" }]
`)}}

// A recording of calls: a file of the collection, a call in each of its lines.
var recordings = []struct {
	file string
	call func(line []byte) (tool string, args []byte, err error)
}{
	{"toolcalls/coding-agent.jsonl", recordedCall},
	{"toolcalls/airline.jsonl", recordedCall},
	{"commands/labelled.jsonl", recordedCommand},
}

func recordedCall(line []byte) (tool string, args []byte, err error) {
	var c struct {
		Tool string
		Args json.RawMessage
	}
	err = json.Unmarshal(line, &c)
	return c.Tool, c.Args, err
}

func recordedCommand(line []byte) (tool string, args []byte, err error) {
	var c struct{ Command string }
	if err = json.Unmarshal(line, &c); err != nil {
		return "", nil, err
	}
	args, err = json.Marshal(map[string]string{"command": c.Command})
	return "Bash", args, err
}

// Every recorded call is decided as it was when the golden file was written, by the coding
// starter with nobody to ask and by a policy that lets everything run.
func TestRecordedCalls(t *testing.T) {
	root := corpus.Path(t)
	var h hashes
	sources, options := starter(t)
	for _, r := range recordings {
		f, err := os.Open(filepath.Join(root, r.file))
		if err != nil {
			t.Fatal(err)
		}
		asked, free := newTracer(t, sources, options, nil), newTracer(t, everything, options, ports.Yes)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<24)
		for n := 1; lines.Scan(); n++ {
			tool, args, err := r.call(lines.Bytes())
			if err != nil {
				t.Fatalf("%s:%d: %v", r.file, n, err)
			}
			call := stopgate.Call{Tool: stopgate.ToolName(tool), Session: stopgate.SessionID(fmt.Sprint(n))}
			h.add(fmt.Sprintf("%s:%d", r.file, n), fmt.Appendf(nil, "%s %s", asked.call(t, call, string(args)), free.call(t, call, string(args))))
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.check(t, "calls")
}

// Every call of the recorded runs of agents is decided as it was, each run a session.
func TestRecordedRuns(t *testing.T) {
	var h hashes
	sources, options := starter(t)
	for _, name := range []string{"dailylife", "github"} {
		f, err := os.Open(corpus.Path(t, "agentdyn", name+".jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		asked := newTracer(t, sources, options, ports.Yes)
		runs := json.NewDecoder(unpacked)
		for n := 1; ; n++ {
			var run struct {
				Messages []struct {
					Calls []struct {
						Tool string
						Args json.RawMessage
					}
				}
			}
			if err := runs.Decode(&run); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			var all bytes.Buffer
			for _, m := range run.Messages {
				for _, c := range m.Calls {
					call := stopgate.Call{Tool: stopgate.ToolName(c.Tool), Session: stopgate.SessionID(fmt.Sprint(n))}
					all.Write(asked.call(t, call, string(c.Args)))
				}
			}
			h.add(fmt.Sprintf("agentdyn/%s:%d", name, n), all.Bytes())
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.check(t, "runs")
}
