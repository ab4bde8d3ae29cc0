package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
)

// Report is the result of [Verify].
type Report struct {
	Rows int64 // number of rows in the chain, up to the first broken one
	Head Head  // of the last of them
	Size int64 // their length in bytes
	Lost int64 // rows that the gate could not write, as reported by gap rows
	// Since is the time of the first row.
	Since time.Time
	// Torn is the number of bytes after the last row that an unfinished write left when the
	// process or the machine failed. They were never acknowledged.
	Torn int64
}

// BrokenError is the first position at which a chain is broken.
type BrokenError struct {
	Line   int64 // 1-based
	Offset int64 // of the line's first byte
	Reason string
}

// Error returns the position and the reason.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit chain is broken at line %d (byte %d): %s", e.Line, e.Offset, e.Reason)
}

// MaxTorn limits the size of an unfinished write. A writer must not have more bytes than
// this in flight without a sync.
const MaxTorn = 256 << 10

// Verify reads a chain from its first row to its end. It returns a *BrokenError for the
// first line that is not the expected row, and the reader's error if there is one. The
// report then covers the rows before it.
//
// The first row has number 1, or is a checkpoint that continues another file, or follows
// pruned rows, which a later checkpoint must name. An unfinished write at the end is not an
// error: see [Report.Torn].
func Verify(r io.Reader) (Report, error) {
	in := bufio.NewReaderSize(r, MaxRow)
	v := NewVerifier()
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			if err := v.Row(line); err != nil {
				return v.broken(in, line, err)
			}
		case errors.Is(err, io.EOF):
			v.report.Torn = int64(len(line))
			return v.End()
		case errors.Is(err, bufio.ErrBufferFull):
			return v.broken(in, line, v.breaks("the line is too long"))
		default:
			return v.Report(), fmt.Errorf("audit chain: %w", err)
		}
	}
}

// Verifier verifies a chain row by row, for any store.
type Verifier struct {
	report Report
	line   int64                // of the file that contains the rows
	offset int64                // of the row in the file
	last   [len(Genesis)]byte   // hash of the last row
	pruned *stopgate.Checkpoint // the row before the first, until a checkpoint names it
}

// NewVerifier returns a Verifier at the start of a chain.
func NewVerifier() *Verifier {
	v := &Verifier{}
	copy(v.last[:], Genesis)
	return v
}

// Report returns the report on the rows so far.
func (v *Verifier) Report() Report {
	report := v.report
	if report.Rows > 0 {
		report.Head.Hash = string(v.last[:])
	}
	return report
}

// Row verifies the next row with its line end. It returns a *BrokenError if the line is not
// the next row.
func (v *Verifier) Row(line []byte) error {
	if reason := v.row(line); reason != "" {
		return v.breaks(reason)
	}
	return nil
}

// End reports whether the rows so far form a chain.
func (v *Verifier) End() (Report, error) {
	if v.pruned != nil {
		return Report{Torn: v.report.Torn}, &BrokenError{Line: 1, Reason: "rows are missing before the first one, and no checkpoint says that they were pruned"}
	}
	return v.Report(), nil
}

// File records that the next row is the first of another file of the same chain, so that
// line numbers start again.
func (v *Verifier) File() { v.line, v.offset = 0, 0 }

func (v *Verifier) breaks(reason string) error {
	return &BrokenError{Line: v.line + 1, Offset: v.offset, Reason: reason}
}

// row verifies one complete line, and returns the reason if it is not the next row.
func (v *Verifier) row(line []byte) (reason string) {
	body, ok := bytes.CutSuffix(line, []byte(closeHash+"\n"))
	cut := len(body) - len(Genesis)
	if !ok || cut < len(openHash) || !bytes.HasSuffix(body[:cut], []byte(openHash)) {
		return "the line is not an audit row"
	}
	hash := body[cut:]
	body = body[:cut-len(openHash)]
	seq, chain, ok := opening(body)
	if !ok {
		return "the line is not an audit row"
	}
	var fits [len(Genesis)]byte
	sum := sha256.Sum256(body)
	if hex.Encode(fits[:], sum[:]); !bytes.Equal(fits[:], hash) {
		return "the row's hash does not fit its bytes"
	}
	before := v.report.Head
	prev := bytes.TrimSuffix(body[max(0, len(body)-len(Genesis)-len(closePrev)):], []byte(closePrev))
	checkpoint := bytes.Contains(body, eventMember(stopgate.AuditCheckpoint))
	switch {
	case v.report.Rows == 0 && seq == 1:
		if !bytes.Equal(prev, v.last[:]) && !checkpoint {
			return "the first row is not the start of a chain"
		}
	case v.report.Rows == 0:
		if !checkpoint {
			v.pruned = &stopgate.Checkpoint{Seq: seq - 1, Hash: string(prev)}
		}
	case string(chain) != before.Chain:
		return "the row belongs to another chain"
	case seq != before.Seq+1:
		return "row " + strconv.FormatInt(before.Seq+1, 10) + " is missing"
	case !bytes.Equal(prev, v.last[:]):
		return "the row does not follow the row before"
	}
	if v.report.Rows == 0 {
		v.report.Head.Chain, v.report.Since = string(chain), members(body).Time
	}
	if checkpoint && v.pruned != nil {
		if c := members(body).Checkpoint; c != nil && *c == *v.pruned {
			v.pruned = nil
		}
	}
	if bytes.Contains(body, eventMember(stopgate.AuditGap)) {
		v.report.Lost += members(body).Count
	}
	v.report.Rows++
	v.line++
	v.report.Size += int64(len(line))
	v.offset += int64(len(line))
	v.report.Head.Seq, v.last = seq, fits
	return ""
}

// eventMember returns the member with an event's name as a row contains it. Text in a row
// cannot be equal to it, because its quotes are escaped.
func eventMember(e stopgate.AuditEvent) []byte {
	return []byte(`,"event":"` + string(e) + `"`)
}

// opening reads version, number and chain, the members at the start of every row.
func opening(body []byte) (seq int64, chain []byte, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"v":`+strconv.Itoa(stopgate.RecordVersion)+`,"seq":`))
	digits, rest, found := bytes.Cut(rest, []byte(`,"chain":"`))
	chain, _, closed := bytes.Cut(rest, []byte(`"`))
	seq, err := strconv.ParseInt(string(digits), 10, 64)
	return seq, chain, ok && found && closed && err == nil && seq > 0
}

// Opening reads the chain, the number and the time of a row, with or without its line end,
// without verifying it.
func Opening(line []byte) (chain string, seq int64, at time.Time, err error) {
	seq, id, ok := opening(line)
	if !ok {
		return "", 0, time.Time{}, errors.New("the line is not an audit row")
	}
	var row struct{ Time time.Time }
	if err := json.Unmarshal(line, &row); err != nil {
		return "", 0, time.Time{}, fmt.Errorf("the line is not an audit row: %w", err)
	}
	return string(id), seq, row.Time, nil
}

// members reads the members of a gap or a checkpoint from its body, which lacks its hash.
func members(body []byte) (row struct {
	Time       time.Time            `json:"time"`
	Count      int64                `json:"count"`
	Checkpoint *stopgate.Checkpoint `json:"checkpoint"`
}) {
	_ = json.Unmarshal(append(bytes.Clone(body), '}'), &row) // a row without these members leaves them zero
	return row
}

// broken distinguishes an unfinished write from a broken chain. After a power failure the
// sectors of an unfinished write are stored in any order: missing ones read as zeros, which
// no row contains, and complete rows of the same write may follow them.
func (v *Verifier) broken(in io.Reader, line []byte, b error) (Report, error) {
	if v.pruned != nil {
		return v.End() // the rows before are not known to belong to the chain
	}
	if bytes.IndexByte(line, 0) < 0 {
		return v.Report(), b
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(in, MaxTorn))
	if err != nil {
		return v.Report(), fmt.Errorf("audit chain: %w", err)
	}
	if rest += int64(len(line)); rest > MaxTorn {
		return v.Report(), b
	}
	v.report.Torn = rest
	return v.End()
}
