// Package audit seals audit rows into a hash chain and verifies such chains. All stores of
// rows use it; internal/record/jsonl stores them in a file.
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
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
)

// Genesis is the hash before the first row.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// Head is the end of a chain. The zero Head is the end of an empty chain.
type Head struct {
	Chain string // id of the chain, one for each writer of a file
	Seq   int64  // of the last row, 0 before the first
	Hash  string // of the last row
}

// MaxRow is the maximum length of a row in bytes, its line end included. The rows of the
// gate are far shorter.
const MaxRow = 64 << 10

// Body is an encoded row that is not in a chain yet: it lacks seq, prev and hash. Encoding
// is the expensive part and needs no order.
type Body []byte

// A row starts with its version and its number and ends with two hashes. The order of the
// members of stopgate.Record is part of the format.
const (
	openSeq   = `"seq":0,`
	closeRow  = `"prev":"","hash":""}`
	openPrev  = `"prev":"`
	closePrev = `"`
	openHash  = `,"hash":"`
	closeHash = `"}`
)

// NewBody encodes a row with the id of a chain. It does not change the row, and ignores its
// Seq, Prev and Hash. It returns an error if the row exceeds MaxRow.
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

// Append seals a row after the head, appends its line to dst, and makes it the new head.
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
