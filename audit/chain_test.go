package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

var at = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func decision(i int) *stopgate.Record {
	mode := stopgate.Deny
	return &stopgate.Record{
		Version: 1, Time: at.Add(time.Duration(i) * time.Second), Kind: stopgate.RecordDecision,
		ID: stopgate.ProposalID(fmt.Sprintf("P%03d", i)), Tool: "fs_read", Status: stopgate.StatusDenied,
		Mode: &mode, Code: stopgate.CodeRuleMatched,
	}
}

func event(name stopgate.AuditEvent, count int64) *stopgate.Record {
	return &stopgate.Record{Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: name, Count: count}
}

func log(t testing.TB, h *audit.Head, rows ...*stopgate.Record) []byte {
	t.Helper()
	if h.Chain == "" {
		h.Chain = "C1"
	}
	var text []byte
	for _, r := range rows {
		body, err := auditrow.Encode(h.Chain, r)
		if err != nil {
			t.Fatal(err)
		}
		h.Seq++
		text, h.Hash = body.Seal(text, h.Seq, h.Hash)
	}
	return text
}

// Proves S25: the members are in their order, and hash, the last, covers the bytes before it,
// computed here by hand.
func TestSealedRowFormat(t *testing.T) {
	var h audit.Head
	text := log(t, &h, decision(1), decision(2))
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	prev := strings.Repeat("0", 64)
	for i, line := range lines {
		body := fmt.Sprintf(`{"v":1,"seq":%d,"chain":"C1","time":"2026-11-21T10:00:0%dZ","kind":"decision","id":"P00%d",`+
			`"tool":"fs_read","status":"denied","mode":"deny","code":"rule_matched","prev":"%s"`, i+1, i+1, i+1, prev)
		sum := sha256.Sum256([]byte(body))
		prev = hex.EncodeToString(sum[:])
		if want := body + `,"hash":"` + prev + `"}`; line != want {
			t.Errorf("line %d\n got %s\nwant %s", i+1, line, want)
		}
	}
	if want := (audit.Head{Chain: "C1", Seq: 2, Hash: prev}); h != want {
		t.Errorf("head %+v, want %+v", h, want)
	}
}

// Proves S25: the recorder overwrites chain members of the row, and does not modify the caller's
// row.
func TestRecorderOverwritesItsMembers(t *testing.T) {
	r := decision(1)
	r.Seq, r.Chain, r.Prev, r.Hash = 99, "forged", "forged", "forged"
	before := *r
	var h audit.Head
	text := log(t, &h, r)
	if strings.Contains(string(text), "forged") || !strings.HasPrefix(string(text), `{"v":1,"seq":1,"chain":"C1"`) {
		t.Errorf("row %s", text)
	}
	if r.Seq != before.Seq || r.Hash != before.Hash || r.Chain != before.Chain || r.Prev != before.Prev {
		t.Error("the sender's row was changed")
	}
}

// Proves S25, H17: text in a row cannot end the line or imitate another member.
func TestTextCannotBreakFraming(t *testing.T) {
	r := decision(1)
	r.Cause = "\n\x1b[2J\u2028" + `","hash":"0000"}` + "\n" + `,"event":"gap","count":7`
	var h audit.Head
	text := log(t, &h, r, decision(2))
	if n := bytes.Count(text, []byte("\n")); n != 2 {
		t.Errorf("%d line ends, want 2", n)
	}
	if bytes.ContainsAny(text[:len(text)-1], "\x1b\u2028") {
		t.Error("a raw control character is in the row")
	}
	report, err := audit.Verify(bytes.NewReader(text))
	if err != nil || report.Rows != 2 || report.Lost != 0 {
		t.Errorf("report %+v, %v", report, err)
	}
}

func TestRowsHaveABound(t *testing.T) {
	r := decision(1)
	r.Cause = strings.Repeat("x", auditrow.MaxSize)
	if _, err := auditrow.Encode("C1", r); err == nil {
		t.Error("a row of more than MaxSize bytes was accepted")
	}
	r.Cause = strings.Repeat("x", auditrow.MaxSize-800)
	var h audit.Head
	text := log(t, &h, r)
	if len(text) > auditrow.MaxSize {
		t.Errorf("a row has %d bytes", len(text))
	}
	if _, err := audit.Verify(bytes.NewReader(text)); err != nil {
		t.Error(err)
	}
}

func TestARowThatCannotBeWrittenOut(t *testing.T) {
	r := decision(1)
	r.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := auditrow.Encode("C1", r); err == nil {
		t.Error("a year that JSON times do not have was accepted")
	}
}

// Proves I22: an intact chain verifies, and the report describes it.
func TestVerifyIntactChain(t *testing.T) {
	var h audit.Head
	text := log(t, &h, decision(1), event(stopgate.AuditGap, 3), decision(2), event(stopgate.AuditGap, 4))
	report, err := audit.Verify(iotest.OneByteReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if want := (audit.Report{Rows: 4, Head: h, Size: int64(len(text)), Lost: 7, Since: decision(1).Time}); report != want {
		t.Errorf("report %+v, want %+v", report, want)
	}
	if report, err := audit.Verify(strings.NewReader("")); err != nil || report != (audit.Report{}) {
		t.Errorf("empty: %+v, %v", report, err)
	}
}

// Proves S25, I22: every edit is detected, with its line.
func TestVerifyFindsTheFirstBrokenLine(t *testing.T) {
	var h audit.Head
	text := string(log(t, &h, decision(1), decision(2), decision(3), decision(4)))
	line := strings.SplitAfter(text, "\n")
	reseal := func(body string) string {
		sum := sha256.Sum256([]byte(body))
		return body + `,"hash":"` + hex.EncodeToString(sum[:]) + "\"}\n"
	}
	body := func(l string) string { return l[:strings.Index(l, `,"hash":"`)] }
	otherChain := audit.Head{Chain: "C2", Seq: 1, Hash: h.Hash}
	for _, c := range []struct {
		name, text string
		line       int64
		reason     string
	}{
		{"a changed code", strings.Replace(text, `"id":"P002","tool":"fs_read"`, `"id":"P002","tool":"fs_rEad"`, 1), 2, "hash does not fit"},
		{"a changed hash", line[0] + line[1][:len(line[1])-20] + "0000000000000000" + line[1][len(line[1])-4:] + line[2], 2, "hash does not fit"},
		{"a removed line", line[0] + line[1] + line[3], 3, "row 3 is missing"},
		{"a removed first line", line[1] + line[2], 1, "no checkpoint says"},
		{"a first row that follows something", reseal(strings.Replace(body(line[0]), strings.Repeat("0", 64), strings.Repeat("1", 64), 1)), 1, "not the start of a chain"},
		{"a repeated line", line[0] + line[0] + line[1], 2, "row 2 is missing"},
		{"two lines swapped", line[0] + line[2] + line[1], 2, "row 2 is missing"},
		{"a row sealed anew", line[0] + reseal(strings.Replace(body(line[1]), "denied", "lifted", 1)) + line[2], 3, "does not follow"},
		{"a number sealed anew", line[0] + reseal(strings.Replace(body(line[1]), `"seq":2`, `"seq":3`, 1)), 2, "row 2 is missing"},
		{"an empty line", line[0] + "\n" + line[1], 2, "not an audit row"},
		{"other text", line[0] + "hello\n", 2, "not an audit row"},
		{"no number", line[0] + reseal(`{"v":1,"kind":"decision"`), 2, "not an audit row"},
		{"another format version", line[0] + reseal(strings.Replace(body(line[1]), `"v":1`, `"v":2`, 1)), 2, "not an audit row"},
		{"CRLF line ends", strings.ReplaceAll(text, "\n", "\r\n"), 1, "not an audit row"},
		{"another chain's row", line[0] + string(log(t, &otherChain, decision(2))), 2, "another chain"},
		{"a line without end", line[0] + strings.Repeat("x", 2*auditrow.MaxSize), 2, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := audit.Verify(strings.NewReader(c.text))
			var broken *audit.BrokenError
			if !errors.As(err, &broken) {
				t.Fatalf("error %v, want a BrokenError", err)
			}
			if broken.Line != c.line || !strings.Contains(broken.Reason, c.reason) {
				t.Errorf("got %v, want line %d: %s", broken, c.line, c.reason)
			}
			if want := int64(strings.Index(c.text, line[0])) + size(line[:c.line-1]); c.line > 1 && broken.Offset != want {
				t.Errorf("offset %d, want %d", broken.Offset, want)
			}
			if report.Rows != c.line-1 {
				t.Errorf("the report covers %d rows, want %d", report.Rows, c.line-1)
			}
			if !strings.Contains(broken.Error(), fmt.Sprintf("line %d", c.line)) {
				t.Errorf("text %q", broken)
			}
		})
	}
}

func size(lines []string) (n int64) {
	for _, l := range lines {
		n += int64(len(l))
	}
	return n
}

// Proves I22: a flipped bit is detected anywhere.
func TestVerifyFindsEveryFlippedBit(t *testing.T) {
	var h audit.Head
	text := log(t, &h, decision(1), decision(2), decision(3))
	for i := range text {
		for bit := range 8 {
			changed := bytes.Clone(text)
			changed[i] ^= 1 << bit
			report, err := audit.Verify(bytes.NewReader(changed))
			if err == nil && report.Rows == 3 {
				t.Fatalf("bit %d of byte %d is not protected", bit, i)
			}
			// Only the last line end can look like an unfinished write.
			if err == nil && report.Torn == 0 {
				t.Fatalf("bit %d of byte %d: no error and nothing torn", bit, i)
			}
			if err == nil && i < len(text)-1 && changed[i] != 0 {
				t.Fatalf("bit %d of byte %d passes for an unfinished write", bit, i)
			}
		}
	}
}

// Proves I22: an unfinished write at the end is distinguished from a broken chain.
func TestVerifyTellsTornFromBroken(t *testing.T) {
	var h audit.Head
	text := log(t, &h, decision(1), decision(2))
	more := log(t, &h, decision(3), decision(4), decision(5))
	hole := bytes.Clone(more)
	clear(hole[100:300])
	for _, c := range []struct {
		name string
		tail []byte
		torn bool
	}{
		{"a front part", more[:50], true},
		{"one byte", more[:1], true},
		{"zeros where the file grew and nothing was written", make([]byte, 4096), true},
		{"a missing sector with whole rows behind it", hole, true},
		{"a missing sector and a front part", hole[:len(hole)-30], true},
		{"a changed row with whole rows behind it", bytes.Replace(more, []byte("denied"), []byte("skipd!"), 1), false},
		{"zeros behind a broken row", append([]byte("broken\n"), make([]byte, 100)...), false},
		{"more zeros than one write", make([]byte, auditrow.MaxTorn+1), false},
		{"a hole in front of more than one write", append(bytes.Clone(hole), bytes.Repeat([]byte("x\n"), auditrow.MaxTorn)...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := audit.Verify(bytes.NewReader(append(bytes.Clone(text), c.tail...)))
			if c.torn {
				if err != nil || report.Torn != int64(len(c.tail)) || report.Rows != 2 || report.Size != int64(len(text)) {
					t.Errorf("report %+v, error %v; want %d torn bytes", report, err, len(c.tail))
				}
				return
			}
			var broken *audit.BrokenError
			if !errors.As(err, &broken) || broken.Line != 3 || report.Torn != 0 {
				t.Errorf("report %+v, error %v; want line 3 broken", report, err)
			}
		})
	}
}

// Proves S25: a chain continues from another file after a checkpoint.
func TestChainStartsWithCheckpoint(t *testing.T) {
	h := audit.Head{Chain: "C1", Seq: 41, Hash: strings.Repeat("ab", 32)}
	text := log(t, &h, event(stopgate.AuditCheckpoint, 0), decision(1))
	report, err := audit.Verify(bytes.NewReader(text))
	if err != nil || report.Head.Seq != 43 {
		t.Errorf("report %+v, %v", report, err)
	}
}

// A gap row without a number of missing rows is still a row.
func TestGapWithoutNumber(t *testing.T) {
	var h audit.Head
	text := string(log(t, &h, event(stopgate.AuditGap, 3)))
	body := strings.Replace(text[:strings.Index(text, `,"hash":"`)], `"count":3`, `"count":[]`, 1)
	sum := sha256.Sum256([]byte(body))
	report, err := audit.Verify(strings.NewReader(body + `,"hash":"` + hex.EncodeToString(sum[:]) + "\"}\n"))
	if err != nil || report.Rows != 1 || report.Lost != 0 {
		t.Errorf("report %+v, %v", report, err)
	}
}

func TestVerifyReturnsTheReadersError(t *testing.T) {
	var h audit.Head
	text := log(t, &h, decision(1))
	for _, tail := range []string{"", "\x00"} { // while reading rows, and while measuring a torn tail
		in := io.MultiReader(bytes.NewReader(text), strings.NewReader(tail+strings.Repeat("x", 10)+"\n"), iotest.ErrReader(errDisk))
		if tail == "" {
			in = io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errDisk))
		}
		if _, err := audit.Verify(in); !errors.Is(err, errDisk) {
			t.Errorf("%q: error %v, want the reader's", tail, err)
		}
	}
}

var errDisk = errors.New("disk on fire")

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	body, err := auditrow.Encode("C1", decision(1))
	if err != nil {
		b.Fatal(err)
	}
	var h audit.Head
	var buf []byte
	for b.Loop() {
		h.Seq++
		buf, h.Hash = body.Seal(buf[:0], h.Seq, h.Hash)
	}
}

func BenchmarkVerify(b *testing.B) {
	var h audit.Head
	rows := make([]*stopgate.Record, 1000)
	for i := range rows {
		rows[i] = decision(i)
	}
	text := log(b, &h, rows...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Verify(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// Proves S25: rows may be missing at the start only if a later row of the chain names the last of
// them.
func TestPrunedChain(t *testing.T) {
	var h audit.Head
	rows := log(t, &h, decision(1), decision(2))
	last := stopgate.Checkpoint{Seq: h.Seq, Hash: h.Hash}
	wrong := stopgate.Checkpoint{Seq: h.Seq, Hash: strings.Repeat("a", 64)}
	for _, c := range []struct {
		name       string
		checkpoint *stopgate.Checkpoint
		whole      bool
	}{{"named", &last, true}, {"another row named", &wrong, false}, {"nothing named", nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			h := h
			text := log(t, &h, decision(3), &stopgate.Record{
				Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditCheckpoint, Count: 2, Checkpoint: c.checkpoint,
			}, decision(4))
			if report, err := audit.Verify(bytes.NewReader(append(bytes.Clone(rows), text...))); err != nil || report.Rows != 5 {
				t.Fatalf("before the rows are removed: %+v, %v", report, err)
			}
			report, err := audit.Verify(bytes.NewReader(text))
			if c.whole && (err != nil || report.Rows != 3 || report.Head != h) {
				t.Errorf("report %+v, %v", report, err)
			}
			var broken *audit.BrokenError
			if !c.whole && (!errors.As(err, &broken) || broken.Line != 1) {
				t.Errorf("error %v", err)
			}
		})
	}
}
