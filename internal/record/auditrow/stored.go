package auditrow

import (
	"bytes"
	"encoding/hex"

	"github.com/stopgate/stopgate/internal/store/compact"
)

// A stored row is the hash of the row before it and the compact form of its [Body], which has
// neither. Its own hash follows from both. Rows of earlier versions are stored as lines.
const storedForm = 2

// prevSize is the size of the hash of the previous row.
const prevSize = len(Genesis) / 2

// Stored is a row as stores keep it. Its place in the chain is not part of it.
type Stored []byte

// Compact returns the stored form of a row that is not in a chain yet. names, which may be nil, are those of its store.
func (b Body) Compact(names compact.Names) Stored {
	s := make(Stored, 1+prevSize, 1+prevSize+len(b)/2)
	s[0] = storedForm
	return compact.Append(s, b, names)
}

// Follow sets the hash of the previous row, "" for the first.
func (s Stored) Follow(prev string) {
	if prev == "" {
		prev = Genesis
	}
	hex.Decode(s[1:1+prevSize], []byte(prev)) // of a row
}

// Line returns the line of a stored row with a number, without its line end. A damaged row, or one that has a name that is not in
// names, has its stored bytes for a line, which are not a row: whoever reads them reports the damage.
func (s Stored) Line(seq int64, names compact.Names) []byte {
	if len(s) < 1+prevSize || s[0] != storedForm {
		return s
	}
	body, err := compact.Expand(make([]byte, 0, 4*len(s)), s[1+prevSize:], names)
	if err != nil || !bytes.HasSuffix(body, []byte(closeRow)) || !bytes.Contains(body, []byte(openSeq)) {
		return s
	}
	line, _ := Body(body).Seal(make([]byte, 0, len(body)+2*len(Genesis)+20), seq, hex.EncodeToString(s[1:1+prevSize]))
	return line[:len(line)-1]
}

// Store returns the stored form of a line, which is the line itself if it is damaged.
func Store(seq int64, line []byte, names compact.Names) Stored {
	l, ok := Parse(append(bytes.Clone(line), '\n'))
	at := bytes.Index(line, []byte(`"seq":`))
	if !ok || at < 0 {
		return line
	}
	at += len(`"seq":`)
	digits := bytes.IndexByte(line[at:], ',')
	end := len(l.Hashed) - len(openPrev) - len(Genesis) - len(closePrev)
	if digits < 0 || at+digits > end {
		return line
	}
	body := append(bytes.Clone(line[:at]), '0')
	body = append(append(body, line[at+digits:end]...), closeRow...)
	s := Body(body).Compact(names)
	s.Follow(string(l.Prev))
	if !bytes.Equal(s.Line(seq, names), line) {
		return line
	}
	return s
}

// HashOf returns the hash at the end of a line without its line end.
func HashOf(line []byte) (hash string, ok bool) {
	rest, ok := bytes.CutSuffix(line, []byte(closeHash))
	if !ok || len(rest) < len(openHash)+len(Genesis) {
		return "", false
	}
	return string(rest[len(rest)-len(Genesis):]), true
}
