package jsonl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/jsonl"
)

func Example() {
	dir, err := os.MkdirTemp("", "stopgate")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")
	rec, err := jsonl.Open(path, jsonl.Options{})
	if err != nil {
		panic(err)
	}
	err = rec.Record(context.Background(), &stopgate.Record{
		Version: stopgate.RecordVersion, Kind: stopgate.RecordEvent, Event: stopgate.AuditNotEvaluated,
	})
	if err != nil {
		panic(err) // the row may or may not be there
	}
	rec.Close()

	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	report, err := audit.Verify(f)
	fmt.Println(report.Rows, report.Torn, err)
	// Output: 1 0 <nil>
}
