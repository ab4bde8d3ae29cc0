package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/store"
)

// A log is verified by anybody who has the file: a row that was changed breaks the chain.
func ExampleVerify() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")
	log, err := store.OpenLog(path, store.LogOptions{})
	if err != nil {
		panic(err)
	}
	for _, tool := range []stopgate.ToolName{"read", "write"} {
		if err := log.Record(context.Background(), &stopgate.Record{Version: stopgate.RecordVersion, Kind: stopgate.RecordDecision, Tool: tool}); err != nil {
			panic(err)
		}
	}
	log.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	report, err := audit.Verify(strings.NewReader(string(text)))
	fmt.Println(report.Rows, err)

	report, err = audit.Verify(strings.NewReader(strings.Replace(string(text), "write", "paint", 1)))
	var broken *audit.BrokenError
	fmt.Println(report.Rows, errors.As(err, &broken))
	// Output:
	// 2 <nil>
	// 1 true
}
