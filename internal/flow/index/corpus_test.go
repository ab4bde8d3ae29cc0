package index_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// recorded returns the different texts of recorded runs of an agent, and their length.
func recorded(tb testing.TB) (batches []*index.Batch, size int) {
	tb.Helper()
	seen := map[string]bool{}
	for _, name := range []string{"dailylife", "github"} {
		f, err := os.Open(corpus.Path(tb, "agentdyn", name+".jsonl.gz"))
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var run struct {
				Messages []struct{ Role, ID, Tool, Text string }
			}
			if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
				tb.Fatal(err)
			}
			for _, m := range run.Messages {
				if m.Role == "assistant" || seen[m.Text] {
					continue
				}
				seen[m.Text] = true
				source := flow.Source(m.Role)
				size += len(m.Text)
				batches = append(batches, &index.Batch{Know: everything, Texts: []index.Text{{Ref: flow.Ref{Tool: "x"}, Text: []byte(m.Text), Sources: []flow.Source{source}}}})
			}
		}
		if err := lines.Err(); err != nil {
			tb.Fatal(err)
		}
	}
	return batches, size
}

func TestMemoryOfRecordedTexts(t *testing.T) {
	batches, size := recorded(t)
	ix := index.New(key, index.Options{Budget: 64 << 20})
	for _, b := range batches {
		ix.Add(b)
	}
	bytes, _ := ix.Size()
	ix.LogSizes(t.Logf)
	t.Logf("%d texts, %d bytes, %d of index: %.2f", len(batches), size, bytes, float64(bytes)/float64(size))
}
