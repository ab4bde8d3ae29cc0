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

	"github.com/stopgate/stopgate"
)

// Report is what [Verify] found.
type Report struct {
	Rows int64 // rows of the chain, up to the first broken one
	Head Head  // of the last of them
	Size int64 // bytes they take
	Lost int64 // rows that the gate could not write, as the gap rows among them say
	// Torn is how many bytes follow the last row that a write left unfinished when
	// the process or the machine died. They were never acknowledged.
	Torn int64
}

// BrokenError says where a chain is broken first.
type BrokenError struct {
	Line   int64 // 1-based
	Offset int64 // of the line's first byte
	Reason string
}

// Error gives the place and the reason.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit chain is broken at line %d (byte %d): %s", e.Line, e.Offset, e.Reason)
}

// MaxTorn bounds what may be taken for an unfinished write. A writer must not
// have more bytes than this under way without a sync.
const MaxTorn = 256 << 10

// Verify reads a chain from its first row to its end. It returns a *BrokenError
// for the first line that is not the row that belongs there, and the reader's
// error if there is one; the report then covers what stands before.
//
// The first row has number 1, or is a checkpoint that goes on from another file.
// An unfinished write at the end is no error: see [Report.Torn].
func Verify(r io.Reader) (Report, error) {
	v := verifier{in: bufio.NewReaderSize(r, MaxRow)}
	copy(v.last[:], Genesis)
	report, err := v.run()
	if report.Rows > 0 {
		report.Head.Hash = string(v.last[:])
	}
	return report, err
}

type verifier struct {
	in     *bufio.Reader
	report Report
	last   [len(Genesis)]byte // hash of the last row
}

func (v *verifier) run() (Report, error) {
	for {
		line, err := v.in.ReadSlice('\n')
		switch {
		case err == nil:
			if reason := v.row(line); reason != "" {
				return v.broken(line, reason)
			}
		case errors.Is(err, io.EOF):
			v.report.Torn = int64(len(line))
			return v.report, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return v.broken(line, "the line is too long")
		default:
			return v.report, fmt.Errorf("audit chain: %w", err)
		}
	}
}

// row takes one complete line, or says why it is not the next row.
func (v *verifier) row(line []byte) (reason string) {
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
	switch {
	case v.report.Rows == 0 && (seq != 1 || !bytes.Equal(prev, v.last[:])):
		if !bytes.Contains(body, eventMember(stopgate.AuditCheckpoint)) {
			return "the first row is not the start of a chain"
		}
	case v.report.Rows > 0 && string(chain) != before.Chain:
		return "the row belongs to another chain"
	case seq != before.Seq+1:
		return "row " + strconv.FormatInt(before.Seq+1, 10) + " is missing"
	case !bytes.Equal(prev, v.last[:]):
		return "the row does not follow the row before"
	}
	if v.report.Rows == 0 {
		v.report.Head.Chain = string(chain)
	}
	if bytes.Contains(body, eventMember(stopgate.AuditGap)) {
		v.report.Lost += count(body)
	}
	v.report.Rows++
	v.report.Size += int64(len(line))
	v.report.Head.Seq, v.last = seq, fits
	return ""
}

// eventMember is how an event's name stands in a row. Text cannot look like it:
// the quotes in it are escaped.
func eventMember(e stopgate.AuditEvent) []byte {
	return []byte(`,"event":"` + string(e) + `"`)
}

// opening reads version, number and chain, the members every row starts with.
func opening(body []byte) (seq int64, chain []byte, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"v":`+strconv.Itoa(stopgate.RecordVersion)+`,"seq":`))
	digits, rest, found := bytes.Cut(rest, []byte(`,"chain":"`))
	chain, _, closed := bytes.Cut(rest, []byte(`"`))
	seq, err := strconv.ParseInt(string(digits), 10, 64)
	return seq, chain, ok && found && closed && err == nil && seq > 0
}

// count reads the count of a gap row, the body of which lacks its hash.
func count(body []byte) int64 {
	var row struct {
		Count int64 `json:"count"`
	}
	if json.Unmarshal(append(bytes.Clone(body), '}'), &row) != nil {
		return 0
	}
	return row.Count
}

// broken tells an unfinished write from a broken chain. A write that a power cut
// left unfinished has its sectors written in any order: those that are missing
// read as zeros, which no row contains, and whole rows of the same write may stand
// behind them.
func (v *verifier) broken(line []byte, reason string) (Report, error) {
	b := &BrokenError{Line: v.report.Rows + 1, Offset: v.report.Size, Reason: reason}
	if bytes.IndexByte(line, 0) < 0 {
		return v.report, b
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(v.in, MaxTorn))
	if err != nil {
		return v.report, fmt.Errorf("audit chain: %w", err)
	}
	if rest += int64(len(line)); rest > MaxTorn {
		return v.report, b
	}
	v.report.Torn = rest
	return v.report, nil
}
