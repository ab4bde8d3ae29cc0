package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/cpu"
	"github.com/stopgate/stopgate/jsonstream"
)

// BenchmarkCalls adds 1 MiB of calls that write source files of this repository.
func BenchmarkCalls(b *testing.B) {
	files, err := filepath.Glob("../../../gateway/*.go")
	if err != nil || len(files) == 0 {
		b.Fatal(err)
	}
	var calls [][]byte
	size := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if size += len(text); size > 1<<20 {
			break
		}
		args := jsonstream.AppendQuote([]byte(`{"path":"src/job.go","content":`), string(text))
		calls = append(calls, append(args, '}'))
	}
	b.SetBytes(int64(size))
	start := cpu.Time()
	for b.Loop() {
		w := live(b, mail)
		for _, args := range calls {
			w.Call(w.index, "send_email", args)
		}
	}
	cpu.Report(b, start)
}
