package audit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// Proves S25: a chain that continues in another file is one chain, and a mistake is reported with
// its position in its own file.
func TestChainInSeveralFiles(t *testing.T) {
	var h audit.Head
	lines := slices.Collect(strings.Lines(string(log(t, &h, decision(1), decision(2), decision(3), decision(4)))))
	v := audit.NewVerifier()
	for i, line := range lines[:3] {
		if i == 2 {
			v.File()
		}
		if err := v.Row([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	var broken *audit.BrokenError
	err := v.Row([]byte(strings.Replace(lines[3], "fs_read", "fs_eval", 1)))
	if !errors.As(err, &broken) || broken.Line != 2 || broken.Offset != int64(len(lines[2])) {
		t.Errorf("%v, want it at line 2 of the second file, byte %d", err, len(lines[2]))
	}
	if err := v.Row([]byte(lines[3])); err != nil {
		t.Error(err)
	}
	report, err := v.End()
	if err != nil || report.Rows != 4 || report.Head.Seq != 4 || report.Size != size(lines) {
		t.Errorf("%+v %v", report, err)
	}
}

// Proves S25: the opening is read only from rows.
func TestOpening(t *testing.T) {
	var h audit.Head
	row := string(log(t, &h, decision(1), decision(2)))
	row = row[strings.IndexByte(row, '\n')+1:]
	for _, line := range []string{row, strings.TrimSuffix(row, "\n")} {
		chain, seq, when, err := auditrow.Opening([]byte(line))
		if chain != "C1" || seq != 2 || !when.Equal(at.Add(2*time.Second)) || err != nil {
			t.Errorf("%q: %q %d %s %v", line, chain, seq, when, err)
		}
	}
	for name, line := range map[string]string{
		"nothing": "", "an object": "{}", "cut": row[:len(row)/2], "another version": strings.Replace(row, `"v":1`, `"v":2`, 1),
		"another time": strings.Replace(row, `"time":"2026`, `"time":"x026`, 1), "no number": strings.Replace(row, `"seq":2`, `"seq":x`, 1),
		"a number that is none": strings.Replace(row, `"seq":2`, `"seq":0`, 1), "no chain": strings.Replace(row, `"chain"`, `"chian"`, 1), "more": row + "x",
	} {
		if chain, seq, _, err := auditrow.Opening([]byte(line)); err == nil || chain != "" || seq != 0 {
			t.Errorf("%s: %q %d %v", name, chain, seq, err)
		}
	}
}
