package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves FM9, I14, M38: of 1,000 calls that the policy permits (10,000 in the long tier), each with
// one fault, no host runs any; 16 run concurrently.
func TestNoFaultAllows(t *testing.T) {
	total := 1_000
	if os.Getenv("STOPGATE_LONG") != "" {
		total = 10_000
	}
	p := program(t, rules+`
[[session]]
type = "limit"
tools = ["Read"]
max_calls = 1000000
within = "1h"
`)
	broken := errors.New("broken")
	fail := func(kind int, ctx context.Context) error {
		switch kind % 3 {
		case 0:
			return broken
		case 1:
			panic("broken")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	names := hook.Names()
	try := func(n int) (fault string, r hook.Reply, name string) {
		rnd := rand.New(rand.NewPCG(7, uint64(n)))
		name = names[n%len(names)]
		h, err := hook.Lookup(name)
		if err != nil {
			t.Error(err)
		}
		text := []byte(event(name, "Read", `{"file_path":"src/a.go"}`))
		var input io.Reader = bytes.NewReader(text)
		o := hook.Options{Deadline: time.Second}
		var recorder ports.Recorder
		var store ports.Store
		limits := gate.Limits{Policy: 5 * time.Millisecond, Store: 5 * time.Millisecond, Record: 5 * time.Millisecond}
		o.Open = opener(t, p, h, gate.WithRecorder(&recorder), gate.WithStore(&store), gate.WithLimits(limits))
		kind := rnd.IntN(3)
		switch n / len(names) % 8 {
		case 0:
			fault = "cut input"
			input = bytes.NewReader(text[:rnd.IntN(len(text))])
		case 1:
			fault = "broken byte"
			for json.Valid(text) {
				text[rnd.IntN(len(text))] = byte(rnd.IntN(256))
			}
		case 2:
			fault = "no end of input"
			o.Deadline = 5 * time.Millisecond
			pipe, _ := io.Pipe()
			input = io.MultiReader(bytes.NewReader(text), pipe)
		case 3:
			fault = "input breaks off"
			input = io.MultiReader(bytes.NewReader(text[:rnd.IntN(len(text)+1)]), iotest.ErrReader(broken))
		case 4:
			fault = "the gate does not open"
			o.Deadline = 5 * time.Millisecond
			o.Open = func(ctx context.Context, _ *hook.Event) (*hook.Backend, error) {
				if rnd.IntN(4) == 0 {
					return nil, nil
				}
				return nil, fail(kind, ctx)
			}
		case 5:
			fault = "the record is not written"
			recorder.Fault = func(ctx context.Context, _ int, _ *stopgate.Record) error { return fail(kind, ctx) }
		case 6:
			fault = "the store does not answer"
			store.Fault = func(ctx context.Context, op string) error { return fail(kind, ctx) }
		case 7:
			fault = "the store forgets on writing"
			store.Fault = func(ctx context.Context, op string) error {
				if op == "load" {
					return nil
				}
				return fail(kind, ctx)
			}
		}
		return fault, h.Run(t.Context(), o, input), name
	}
	var workers sync.WaitGroup
	next := make(chan int)
	for range 16 {
		workers.Go(func() {
			for n := range next {
				if fault, r, name := try(n); hostDoes(name, r) != blocks {
					t.Errorf("run %d, %s, %s: the host %s\nstdout %s\nstderr %s\nexit %d", n, name, fault, hostDoes(name, r), r.Stdout, r.Stderr, r.Exit)
				}
			}
		})
	}
	for n := range total {
		next <- n
	}
	close(next)
	workers.Wait()
}

// Proves FM9: the same calls run without faults, so that the faults above are the cause of the
// denials.
func TestWithoutFaultsCallsRun(t *testing.T) {
	for _, name := range hook.Names() {
		h := host(t, name)
		open := opener(t, program(t, rules), h, gate.WithRecorder(new(ports.Recorder)), gate.WithStore(new(ports.Store)))
		if got := hostDoes(name, ask(t, h, hook.Options{Open: open}, event(name, "Read", `{"file_path":"src/a.go"}`))); got != runs {
			t.Errorf("%s: the host %s", name, got)
		}
	}
}

// Proves FM9, I7: for any input the reply is one that the host supports, and text that is no event
// never runs anything.
func FuzzEvents(f *testing.F) {
	for name := range before {
		f.Add(name, event(name, "Read", `{"file_path":"src/a.go"}`))
	}
	f.Add("cursor", `{"hook_event_name":"beforeShellExecution","command":"ls"}`)
	p := program(f, rules)
	f.Fuzz(func(t *testing.T, name, text string) {
		h, err := hook.Lookup(name)
		if err != nil {
			t.Skip()
		}
		r := h.Run(t.Context(), hook.Options{Open: opener(t, p, h)}, strings.NewReader(text))
		if r.Exit == 0 && len(r.Stdout) > 0 && !json.Valid(r.Stdout) {
			t.Fatalf("%s: %q is no JSON", name, r.Stdout)
		}
		if got := hostDoes(name, r); got != blocks && !json.Valid([]byte(text)) {
			t.Fatalf("%s %s on %q", name, got, text)
		}
	})
}

// Proves FM4: the reason of a denial names the problem of the disk.
func TestLostRecordsAreExplained(t *testing.T) {
	h, err := hook.Lookup("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	recorder := ports.Recorder{Fault: func(context.Context, int, *stopgate.Record) error { return errors.New("database or disk is full") }}
	var stderr bytes.Buffer
	r := h.Run(t.Context(), hook.Options{
		Open: opener(t, program(t, "version = 1\n[tools.Read.policy]\nrun = \"unattended\"\n"), h, gate.WithRecorder(&recorder)), Log: &stderr,
	}, strings.NewReader(`{"session_id":"s","cwd":"/srv/proj","hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":"t","tool_input":{"file_path":"a"}}`))
	if r.Exit != 2 || !strings.Contains(string(r.Stdout), "audit_unavailable") || !strings.Contains(stderr.String(), "recording the decision failed: database or disk is full") {
		t.Errorf("exit %d, %s, said %s", r.Exit, r.Stdout, stderr.String())
	}
}
