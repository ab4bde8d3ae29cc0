// Package auditrow encodes audit rows as lines of JSON and seals them into a hash chain, for stores
// of rows. Package audit describes the format and verifies it.
//
//	body, err := auditrow.Encode(chain, &record)
//	...
//	line, hash := body.Seal(nil, seq, prev)
package auditrow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
)

// Genesis is the hash before the first row.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// MaxSize is the maximum length of a row in bytes, its line end included. The rows of the
// gate are far shorter.
const MaxSize = 64 << 10

// MaxTorn limits the size of an unfinished write. A writer must not have more bytes than
// this in flight without a sync.
const MaxTorn = 256 << 10

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

// Body is an encoded row that is not in a chain yet: it lacks seq, prev and hash. Encoding
// is the expensive part and needs no order.
type Body []byte

// Encode encodes a row with the id of a chain. It does not change the row, and ignores its
// Seq, Prev and Hash. It returns an error if the row exceeds MaxSize.
func Encode(chain string, r *stopgate.Record) (Body, error) {
	row := *r
	row.Seq, row.Chain, row.Prev, row.Hash = 0, chain, "", ""
	w := rowWriter{dst: make([]byte, 0, 1024)}
	if w.row(&row); w.err != nil {
		return nil, fmt.Errorf("audit row: %w", w.err)
	}
	body := w.dst
	if len(body)+len(Genesis)*2+20 > MaxSize {
		return nil, fmt.Errorf("audit row: %d bytes are more than %d", len(body), MaxSize)
	}
	return body, nil
}

// Seal appends the line of the row with a number to dst and returns its hash. prev is the hash
// of the previous row, "" for the first.
func (b Body) Seal(dst []byte, seq int64, prev string) (lines []byte, hash string) {
	if prev == "" {
		prev = Genesis
	}
	start := len(dst)
	at := bytes.Index(b, []byte(openSeq)) + len(`"seq":`)
	dst = append(dst, b[:at]...)
	dst = strconv.AppendInt(dst, seq, 10)
	dst = append(dst, b[at+1:len(b)-len(closeRow)]...)
	dst = append(dst, openPrev...)
	dst = append(dst, prev...)
	dst = append(dst, closePrev...)
	sum := sha256.Sum256(dst[start:])
	hash = hex.EncodeToString(sum[:])
	dst = append(dst, openHash...)
	dst = append(dst, hash...)
	dst = append(dst, closeHash...)
	return append(dst, '\n'), hash
}

// Line is a complete line that has the form of a row. Its parts refer to the line.
type Line struct {
	Hashed     []byte // the bytes before the hash, which it is the hash of
	Hash, Prev []byte
	Chain      []byte
	Seq        int64
}

// Parse splits a line with its line end. ok is false if the line is not a row.
func Parse(line []byte) (l Line, ok bool) {
	body, ok := bytes.CutSuffix(line, []byte(closeHash+"\n"))
	cut := len(body) - len(Genesis)
	if !ok || cut < len(openHash) || !bytes.HasSuffix(body[:cut], []byte(openHash)) {
		return Line{}, false
	}
	l.Hash, l.Hashed = body[cut:], body[:cut-len(openHash)]
	l.Seq, l.Chain, ok = opening(l.Hashed)
	l.Prev = bytes.TrimSuffix(l.Hashed[max(0, len(l.Hashed)-len(Genesis)-len(closePrev)):], []byte(closePrev))
	return l, ok
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
