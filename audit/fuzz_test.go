package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// naive counts the rows from the start of a text that form a chain, by decoding each line with
// encoding/json and hashing it as the format defines.
func naive(text string) (rows int64) {
	prev, chain := strings.Repeat("0", 64), ""
	for {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended || len(line) >= auditrow.MaxSize {
			return rows
		}
		var r stopgate.Record
		cut := strings.LastIndex(line, `,"hash":"`)
		if cut < 0 || json.Unmarshal([]byte(line), &r) != nil {
			return rows
		}
		sum := sha256.Sum256([]byte(line[:cut]))
		first := rows == 0 && strings.Contains(line, `,"event":"checkpoint"`)
		switch {
		case r.Version != 1, r.Hash != hex.EncodeToString(sum[:]), line[cut:] != `,"hash":"`+r.Hash+`"}`:
			return rows
		case !first && (r.Seq != rows+1 || r.Prev != prev || rows > 0 && r.Chain != chain):
			return rows
		case first && r.Seq != rows+1:
			return rows + 1 // this does not follow the numbers of a continued chain
		}
		rows++
		prev, chain, text = r.Hash, r.Chain, rest
	}
}

// Proves I22: for any bytes, Verify accepts exactly the rows that the format accepts, and reports
// their end.
func FuzzVerify(f *testing.F) {
	var h audit.Head
	whole := string(log(f, &h, decision(1), decision(2), event(stopgate.AuditGap, 3), decision(3)))
	line := strings.SplitAfter(whole, "\n")
	for _, seed := range []string{
		"", "\n", whole, whole[:len(whole)-1], whole + "\x00\x00", line[0] + line[2], line[1], line[1] + "\n", line[0] + "{}\n",
		strings.Replace(whole, "fs_read", "fs_rEad", 1), line[0] + strings.Repeat("\x00", 600) + line[2],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		report, err := audit.Verify(strings.NewReader(text))
		if want := naive(text); report.Rows != want {
			t.Fatalf("%d rows, want %d (%v)", report.Rows, want, err)
		}
		if accepted := text[:report.Size]; int64(strings.Count(accepted, "\n")) != report.Rows {
			t.Fatalf("%d bytes of %d rows", report.Size, report.Rows)
		}
		var broken *audit.BrokenError
		switch rest := int64(len(text)) - report.Size; {
		case err == nil && report.Torn != rest:
			t.Fatalf("%d bytes behind the chain, %d torn", rest, report.Torn)
		case err == nil && rest > auditrow.MaxTorn:
			t.Fatalf("%d bytes pass for torn", rest)
		case err != nil && (!errors.As(err, &broken) || broken.Line != report.Rows+1 || broken.Offset != report.Size):
			t.Fatalf("%v behind %d rows of %d bytes", err, report.Rows, report.Size)
		}
		// The accepted part is accepted by itself, and its head is the hash of the last row.
		again, err := audit.Verify(bytes.NewReader([]byte(text[:report.Size])))
		if err != nil || again.Rows != report.Rows || again.Head != report.Head {
			t.Fatalf("alone: %+v, %v; before %+v", again, err, report)
		}
	})
}
