package jsonl_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/dropfs"
)

// One caller pays one sync for each row.
func BenchmarkRecord(b *testing.B) {
	rec := open(b, filepath.Join(b.TempDir(), "audit.jsonl"), jsonl.Options{})
	r := row("01JZZZZZZZZZZZZZZZZZZZZZZZ")
	b.ReportAllocs()
	for b.Loop() {
		if err := rec.Record(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

// Sixteen callers share syncs: the time is per row.
func BenchmarkRecord16(b *testing.B) {
	rec := open(b, filepath.Join(b.TempDir(), "audit.jsonl"), jsonl.Options{})
	sixteen(b, rec)
}

// The same on a disk that syncs in no time: the cost of the recorder itself.
func BenchmarkRecord16Memory(b *testing.B) {
	rec := open(b, "/audit.jsonl", jsonl.Options{FS: &dropfs.FS{}})
	sixteen(b, rec)
}

func sixteen(b *testing.B, rec *jsonl.Recorder) {
	b.ReportAllocs()
	var callers sync.WaitGroup
	for c := range 16 {
		n := b.N / 16
		if c < b.N%16 {
			n++
		}
		callers.Go(func() {
			r := row("01JZZZZZZZZZZZZZZZZZZZZZZZ")
			for range n {
				if err := rec.Record(ctx, r); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
}
