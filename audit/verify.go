// Package audit verifies the hash chains of audit rows, and selects which arguments are stored
// with them.
//
// A row is one line of JSON, with its members in the order of [stopgate.Record]. Its last
// member, hash, is the hexadecimal SHA-256 of the bytes of the line before `,"hash"`; prev
// is the hash of the previous row, 64 zeros in the first row; seq counts from 1 without
// gaps (S25).
//
//	report, err := audit.Verify(file)
//	var broken *audit.BrokenError
//	if errors.As(err, &broken) {
//		fmt.Println("first broken line:", broken.Line)
//	}
//
// The chain reveals every edit, removal and insertion. It cannot reveal that its end was
// truncated, or that its owner wrote it again: compare it with a [Head] that is stored
// elsewhere.
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
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// Head is the end of a chain. The zero Head is the end of an empty chain.
type Head struct {
	Chain string // id of the chain, one for each writer of a file
	Seq   int64  // of the last row, 0 before the first
	Hash  string // of the last row
}

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

// Verify reads a chain from its first row to its end. It returns a *BrokenError for the
// first line that is not the expected row, and the reader's error if there is one. The
// report then covers the rows before it.
//
// The first row has number 1, or is a checkpoint that continues another file, or follows
// pruned rows, which a later checkpoint must name. An unfinished write at the end is not an
// error: see [Report.Torn].
func Verify(r io.Reader) (Report, error) {
	in := bufio.NewReaderSize(r, auditrow.MaxSize)
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
	line   int64                       // of the file that contains the rows
	offset int64                       // of the row in the file
	last   [len(auditrow.Genesis)]byte // hash of the last row
	pruned *stopgate.Checkpoint        // the row before the first, until a checkpoint names it
}

// NewVerifier returns a Verifier at the start of a chain.
func NewVerifier() *Verifier {
	v := &Verifier{}
	copy(v.last[:], auditrow.Genesis)
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
	l, ok := auditrow.Parse(line)
	if !ok {
		return "the line is not an audit row"
	}
	var fits [len(auditrow.Genesis)]byte
	sum := sha256.Sum256(l.Hashed)
	if hex.Encode(fits[:], sum[:]); !bytes.Equal(fits[:], l.Hash) {
		return "the row's hash does not fit its bytes"
	}
	before := v.report.Head
	checkpoint := bytes.Contains(l.Hashed, eventMember(stopgate.AuditCheckpoint))
	switch {
	case v.report.Rows == 0 && l.Seq == 1:
		if !bytes.Equal(l.Prev, v.last[:]) && !checkpoint {
			return "the first row is not the start of a chain"
		}
	case v.report.Rows == 0:
		if !checkpoint {
			v.pruned = &stopgate.Checkpoint{Seq: l.Seq - 1, Hash: string(l.Prev)}
		}
	case string(l.Chain) != before.Chain:
		return "the row belongs to another chain"
	case l.Seq != before.Seq+1:
		return "row " + strconv.FormatInt(before.Seq+1, 10) + " is missing"
	case !bytes.Equal(l.Prev, v.last[:]):
		return "the row does not follow the row before"
	}
	if v.report.Rows == 0 {
		v.report.Head.Chain, v.report.Since = string(l.Chain), members(l.Hashed).Time
	}
	if checkpoint && v.pruned != nil {
		if c := members(l.Hashed).Checkpoint; c != nil && *c == *v.pruned {
			v.pruned = nil
		}
	}
	if bytes.Contains(l.Hashed, eventMember(stopgate.AuditGap)) {
		v.report.Lost += members(l.Hashed).Count
	}
	v.report.Rows++
	v.line++
	v.report.Size += int64(len(line))
	v.offset += int64(len(line))
	v.report.Head.Seq, v.last = l.Seq, fits
	return ""
}

// eventMember returns the member with an event's name as a row contains it. Text in a row
// cannot be equal to it, because its quotes are escaped.
func eventMember(e stopgate.AuditEvent) []byte {
	return []byte(`,"event":"` + string(e) + `"`)
}

// members reads the members of a gap or a checkpoint from its body, which lacks its hash.
func members(body []byte) (m struct {
	Time       time.Time            `json:"time"`
	Count      int64                `json:"count"`
	Checkpoint *stopgate.Checkpoint `json:"checkpoint"`
}) {
	_ = json.Unmarshal(append(bytes.Clone(body), '}'), &m) // a row without these members leaves them zero
	return m
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
	rest, err := io.Copy(io.Discard, io.LimitReader(in, auditrow.MaxTorn))
	if err != nil {
		return v.Report(), fmt.Errorf("audit chain: %w", err)
	}
	if rest += int64(len(line)); rest > auditrow.MaxTorn {
		return v.Report(), b
	}
	v.report.Torn = rest
	return v.End()
}
