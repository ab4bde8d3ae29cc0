package gate_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// discard is a recorder that is durable at once.
type discard struct{}

func (discard) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (discard) Record(context.Context, *stopgate.Record) error { return nil }

// punctual is the same, and waits for nothing.
type punctual struct{ discard }

func (punctual) Capabilities() gate.Capabilities { return gate.Capabilities{Punctual: true} }

var benchArgs = []byte(`{"path":"src/agent/loop.go","content":"package agent\n"}`)

func benchDecide(b *testing.B, args []byte, opts ...gate.Option) {
	g := fileGate(b, filePolicy, opts...)
	call := stopgate.Call{Tool: "fs_write", ID: "call_1", Session: "s", Args: args}
	b.ReportAllocs()
	start := cpu.Time()
	defer func() { cpu.Report(b, start) }()
	for b.Loop() {
		if out, err := g.Decide(ctx, call); err != nil || !out.Allowed() {
			b.Fatal(out, err)
		}
	}
}

// One decision without an audit log: rules, id, hashes.
func BenchmarkDecide(b *testing.B) { benchDecide(b, benchArgs) }

// The same with a log that takes no time: what a recorder's call costs.
func BenchmarkDecideRecorded(b *testing.B) { benchDecide(b, benchArgs, gate.WithRecorder(discard{})) }

// The same with a log that keeps deadlines itself.
func BenchmarkDecidePunctual(b *testing.B) {
	benchDecide(b, benchArgs, gate.WithRecorder(punctual{}))
}

// A large file in the arguments.
func BenchmarkDecide64K(b *testing.B) {
	args := []byte(`{"path":"src/agent/loop.go","content":"`)
	for len(args) < 64<<10 {
		args = append(args, `func f(x int) error {\n\treturn fmt.Errorf(\"x: %d\", x)\n}\n`...)
	}
	args = append(args, `"}`...)
	b.SetBytes(int64(len(args)))
	benchDecide(b, args, gate.WithRecorder(discard{}))
}

// A denial at byte 14 of a stream of 20-byte chunks.
func BenchmarkStreamedDenial(b *testing.B) {
	g := fileGate(b, filePolicy, gate.WithRecorder(discard{}))
	chunk := []byte(`{"path":"a/.env","c`)
	b.ReportAllocs()
	for b.Loop() {
		p, err := g.Open(ctx, stopgate.Call{Tool: "fs_write"})
		if err != nil {
			b.Fatal(err)
		}
		if !p.Feed(chunk).Terminal() {
			b.Fatal("not denied")
		}
		p.Close(stopgate.Cancelled)
		p.Resolve(ctx)
	}
}

// The audit log on a real disk, one caller and sixteen that share syncs.
func BenchmarkDecideDurable(b *testing.B) {
	benchDecide(b, benchArgs, gate.WithRecorder(openLog(b)))
}

func BenchmarkDecideDurable16(b *testing.B) {
	g := fileGate(b, filePolicy, gate.WithRecorder(openLog(b)))
	b.ReportAllocs()
	var callers sync.WaitGroup
	for c := range 16 {
		n := b.N / 16
		if c < b.N%16 {
			n++
		}
		callers.Go(func() {
			call := stopgate.Call{Tool: "fs_write", ID: "call_1", Session: "s", Args: benchArgs}
			for range n {
				if out, err := g.Decide(ctx, call); err != nil || !out.Allowed() {
					b.Error(out, err)
					return
				}
			}
		})
	}
	callers.Wait()
}

func openLog(b *testing.B) *jsonl.Recorder {
	rec, err := jsonl.Open(filepath.Join(b.TempDir(), "audit.jsonl"), jsonl.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rec.Close() })
	return rec
}
