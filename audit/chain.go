// Package audit seals audit rows into a hash chain and verifies such chains. It
// holds what every store of rows has in common; audit/jsonl keeps them in a file.
//
// A row is one line of JSON, the members in the order of [stopgate.Record]. Its
// last member, hash, is the SHA-256 in hex of the line's bytes before `,"hash"`;
// prev is the hash of the row before, 64 zeros in the first row; seq counts from 1
// without gaps (DECISIONS S25).
//
//	report, err := audit.Verify(file)
//	var broken *audit.BrokenError
//	if errors.As(err, &broken) {
//		fmt.Println("first broken line:", broken.Line)
//	}
//
// The chain shows every edit, removal and insertion. It cannot show that its end
// was cut off, or that its owner wrote it anew: compare with a [Head] that is kept
// elsewhere.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
)

// Genesis is the hash before the first row.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// Head is the end of a chain. The zero Head is the end of the empty one.
type Head struct {
	Chain string // the chain's id, one for each writer of a file
	Seq   int64  // of the last row, 0 before the first
	Hash  string // of the last row
}

// MaxRow is the longest legal row in bytes, its line end included. The gate's
// rows are far below it.
const MaxRow = 64 << 10

// Body is a row that is written out but not in a chain yet: everything but seq,
// prev and hash. Making it is the expensive part and needs no order.
type Body []byte

// A row starts with its version and its number and ends with two hashes; the
// order of the members of stopgate.Record is the format.
const (
	openSeq   = `"seq":0,`
	closeRow  = `"prev":"","hash":""}`
	openPrev  = `"prev":"`
	closePrev = `"`
	openHash  = `,"hash":"`
	closeHash = `"}`
)

// NewBody writes a row out under a chain's id. The row itself is not changed; its
// Seq, Prev and Hash do not count.
func NewBody(chain string, r *stopgate.Record) (Body, error) {
	row := *r
	row.Seq, row.Chain, row.Prev, row.Hash = 0, chain, "", ""
	w := rowWriter{dst: make([]byte, 0, 1024)}
	if w.row(&row); w.err != nil {
		return nil, fmt.Errorf("audit row: %w", w.err)
	}
	body := w.dst
	if len(body)+len(Genesis)*2+20 > MaxRow {
		return nil, fmt.Errorf("audit row: %d bytes are more than %d", len(body), MaxRow)
	}
	return body, nil
}

// Append seals a row behind the head, appends its line to dst and makes it the
// head.
func (h *Head) Append(dst []byte, b Body) []byte {
	start := len(dst)
	seq := bytes.Index(b, []byte(openSeq)) + len(`"seq":`)
	dst = append(dst, b[:seq]...)
	h.Seq++
	dst = strconv.AppendInt(dst, h.Seq, 10)
	dst = append(dst, b[seq+1:len(b)-len(closeRow)]...)
	dst = append(dst, openPrev...)
	dst = append(dst, h.prev()...)
	dst = append(dst, closePrev...)
	sum := sha256.Sum256(dst[start:])
	h.Hash = hex.EncodeToString(sum[:])
	dst = append(dst, openHash...)
	dst = append(dst, h.Hash...)
	dst = append(dst, closeHash...)
	return append(dst, '\n')
}

func (h *Head) prev() string {
	if h.Hash == "" {
		return Genesis
	}
	return h.Hash
}
