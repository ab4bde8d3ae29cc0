package jsonstream_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves I7, F043-10: on every event of recorded provider streams, scan, parser
// and jsontext agree on acceptance and value.
func TestRecordedEvents(t *testing.T) {
	var d jsonstream.Document
	events := 0
	err := filepath.WalkDir(corpus.Path(t, "streams"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".sse" || testing.Short() && events > 2_000 {
			return err
		}
		stream, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(stream) {
			data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:"))
			if !ok {
				continue
			}
			events++
			compareRecorded(t, &d, data, len(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events", events)
}

// Proves F043-08, F043-09, F043-10: recorded tool calls in random chunks.
func TestRecordedCalls(t *testing.T) {
	var d jsonstream.Document
	rng := rand.New(rand.NewPCG(1, 2))
	for _, file := range []string{"coding-agent.jsonl", "airline.jsonl"} {
		text, err := os.ReadFile(corpus.Path(t, "toolcalls", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			compareRecorded(t, &d, line, 1+rng.IntN(40))
		}
	}
}

// compareRecorded reads a text with the parser, in chunks of a size, and with a scan, and compares
// both with jsontext.
func compareRecorded(t *testing.T, d *jsonstream.Document, data []byte, size int) {
	t.Helper()
	var a jsonstream.Aggregator
	p := jsonstream.NewParser(&a, generous)
	for chunk := range slices.Chunk(data, max(1, size)) {
		p.Feed(chunk)
	}
	parsed, scanned := p.Close(), d.Scan(data, generous)
	if valid := jsontext.Value(data).IsValid(); valid != (parsed == nil) || valid != (scanned == nil) {
		t.Fatalf("%s: jsontext accepts: %t, parser %v, scan %v", data, valid, parsed, scanned)
	}
	if parsed != nil {
		return
	}
	want := tokensOf(t, data)
	if got := tokens(d.Root()); !slices.Equal(got, want) {
		t.Fatalf("%s: scan reads %q", data, got)
	}
	if got := tokens(a.Document().Root()); !slices.Equal(got, want) {
		t.Fatalf("%s: parser reads %q", data, got)
	}
	if got := tokensOf(t, a.Bytes()); !slices.Equal(got, want) {
		t.Fatalf("%s: written as %s", data, a.Bytes())
	}
}
