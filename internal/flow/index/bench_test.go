package index_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/flow/occur"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// BenchmarkAddMiB adds pages, programs, listings and records, which have more tokens than what agents
// read: BenchmarkAddRecorded adds that.
func BenchmarkAddMiB(b *testing.B) {
	batches, size := newWriter(1).conversation(1<<20, 40)
	benchmarkAdd(b, batches, size)
}

func BenchmarkAddRecorded(b *testing.B) {
	batches, size := recorded(b)
	benchmarkAdd(b, batches, size)
}

// benchmarkAdd reports processor time for each MiB of text.
func benchmarkAdd(b *testing.B, batches []*index.Batch, size int) {
	b.SetBytes(int64(size))
	var bytes int64
	start := cpu.Time()
	for b.Loop() {
		ix := index.New(key, index.Options{})
		for _, batch := range batches {
			ix.Add(batch)
		}
		bytes, _ = ix.Size()
	}
	b.ReportMetric(float64(cpu.Time()-start)/float64(b.N)/float64(size)*(1<<20)/1e6, "cpu-ms/MiB")
	b.ReportMetric(float64(bytes)/float64(size), "index/text")
}

func BenchmarkFiveFinds(b *testing.B) {
	batches, _ := newWriter(1).conversation(1<<20, 40)
	ix := index.New(key, index.Options{})
	for _, batch := range batches {
		ix.Add(batch)
	}
	v := ix.View()
	var queries []*flow.Query
	for _, k := range []flow.Kind{flow.Email, flow.URL, flow.ID, flow.Text, flow.Number} {
		queries = append(queries, &flow.Query{Kind: k, Sources: []flow.Source{flow.User, "contacts"}, Trusted: []flow.Source{flow.User, flow.System}})
	}
	values := []string{"ann.lee@shop.example", "https://shop.example/pay/1", "shop.example", "Ann Lee", "1200.50"}
	b.ResetTimer()
	for b.Loop() {
		for i, q := range queries {
			v.Find([]byte(values[i]), q)
		}
	}
}

// BenchmarkScanMiB is the part of BenchmarkAddMiB that finds the tokens.
func BenchmarkScanMiB(b *testing.B) {
	batches, size := newWriter(1).conversation(1<<20, 40)
	b.SetBytes(int64(size))
	start := cpu.Time()
	for b.Loop() {
		for _, batch := range batches {
			for i := range batch.Texts {
				occur.Scan(batch.Texts[i].Text, func(occur.Token) {})
			}
		}
	}
	cpu.Report(b, start)
}

// BenchmarkConversation adds 2 MiB in 400 messages; late/early is the time of the last hundred by that
// of the first, which have as much text.
func BenchmarkConversation(b *testing.B) {
	batches, size := newWriter(1).conversation(2<<20, 400)
	b.SetBytes(int64(size))
	start := cpu.Time()
	var early, late time.Duration
	for b.Loop() {
		ix := index.New(key, index.Options{})
		for i, batch := range batches {
			before := time.Now()
			ix.Add(batch)
			switch used := time.Since(before); {
			case i < 100:
				early += used
			case i >= len(batches)-100:
				late += used
			}
		}
	}
	cpu.Report(b, start)
	b.ReportMetric(float64(late)/float64(early), "late/early")
}
