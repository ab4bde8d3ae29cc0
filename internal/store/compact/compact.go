package compact

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// Names are texts that a store repeats and has once, each under a number.
type Names interface {
	// Number returns the number of a text.
	Number(text []byte) (number uint64, ok bool)
	// Text returns the text of a number.
	Text(number uint64) (text string, ok bool)
}

// Bounds of the names that are replaced by their numbers, in bytes.
const (
	ShortestName = 8
	LongestName  = 64
)

// Append appends the compact form of a text to dst. Expand needs the names that it has a number of. They may be nil.
func Append(dst, text []byte, names Names) []byte {
	w := writer{dst: append(dst, version), text: text, index: index(), names: names}
	for w.at < len(text) {
		if !w.value() && !w.fragment() {
			w.at++ // a plain byte, written with those that follow
		}
	}
	w.plain(len(text))
	return w.dst
}

// writer appends tokens. The bytes of text before done are written, those from there to at are plain.
type writer struct {
	dst, text []byte
	done, at  int
	sums      [16]int // where digests of this text begin
	count     int
	index     *[1 << 12][]int16
	names     Names
}

// plain writes the plain bytes before an offset.
func (w *writer) plain(end int) {
	if end > w.done {
		w.dst = append(w.dst, tokenPlain)
		w.dst = binary.AppendUvarint(w.dst, uint64(end-w.done))
		w.dst = append(w.dst, w.text[w.done:end]...)
	}
}

// token writes a token for the next n bytes.
func (w *writer) token(n int, token ...byte) {
	w.plain(w.at)
	w.dst = append(w.dst, token...)
	w.at += n
	w.done = w.at
}

// fragment writes the longest fragment that follows.
func (w *writer) fragment() bool {
	rest := w.text[w.at:]
	if len(rest) < shortest {
		return false
	}
	for _, i := range w.index[slot(rest)] {
		if f := fragments[i]; len(f) <= len(rest) && string(rest[:len(f)]) == f {
			if i < short {
				w.token(len(f), byte(firstShort+i))
			} else {
				w.token(len(f), tokenRare, byte(i-short))
			}
			return true
		}
	}
	return false
}

// value writes a value that has a binary form.
func (w *writer) value() bool {
	if w.at == 0 {
		return false
	}
	rest := w.text[w.at:]
	switch before := w.text[w.at-1]; {
	case before == '"' || before == ':' && rest[0] > '9':
		return w.word(rest)
	case (before == ':' || before == ',' || before == '[') && rest[0] >= '0' && rest[0] <= '9':
		return w.number(rest)
	}
	return false
}

// word writes a name, a digest, an id or a time.
func (w *writer) word(rest []byte) bool {
	var raw [32]byte
	n := bytes.IndexByte(rest[:min(len(rest), LongestName+1)], '"')
	if w.names != nil && n >= ShortestName {
		if number, ok := w.names.Number(rest[:n]); ok {
			w.token(n, tokenName)
			w.dst = binary.AppendUvarint(w.dst, number)
			return true
		}
	}
	switch {
	case n == 64 && unhex(raw[:], rest[:n], lower):
		for i, at := range w.sums[:min(w.count, len(w.sums))] {
			if string(w.text[at:at+n]) == string(rest[:n]) {
				w.token(n, tokenSame, byte(i))
				return true
			}
		}
		if w.count < len(w.sums) {
			w.sums[w.count] = w.at
		}
		w.count++
		w.token(n, tokenSum)
		w.dst = append(w.dst, raw[:]...)
	case n == 26 && unhex(raw[:13], rest[:n], upper):
		w.token(n, tokenUpper)
		w.dst = append(w.dst, raw[:13]...)
	case n == 26 && unULID(&raw, rest[:n]):
		w.token(n, tokenULID)
		w.dst = append(w.dst, raw[:16]...)
	case n == 36 && unUUID(raw[:16], rest[:n]):
		w.token(n, tokenUUID)
		w.dst = append(w.dst, raw[:16]...)
	case n == 43 && unBase64(raw[:], rest[:n]):
		w.token(n, tokenBase64)
		w.dst = append(w.dst, raw[:]...)
	case n >= 8 && n < 64 && n%2 == 0 && unhex(raw[:n/2], rest[:n], lower):
		w.token(n, tokenLower, byte(n/2))
		w.dst = append(w.dst, raw[:n/2]...)
	case n >= len("2026-11-28T00:00:00Z") && n <= len("2026-11-28T00:00:00.000000000Z") && rest[n-1] == 'Z' && rest[10] == 'T':
		at, err := time.Parse(time.RFC3339Nano, string(rest[:n]))
		nano := at.UnixNano()
		if err != nil || string(time.Unix(0, nano).UTC().AppendFormat(raw[:0], time.RFC3339Nano)) != string(rest[:n]) {
			return false
		}
		w.token(n, tokenTime)
		w.dst = binary.BigEndian.AppendUint64(w.dst, uint64(nano))
	default:
		return false
	}
	return true
}

func (w *writer) number(rest []byte) bool {
	n, value := 0, uint64(0)
	for ; n < len(rest) && n < 19 && rest[n] >= '0' && rest[n] <= '9'; n++ {
		value = value*10 + uint64(rest[n]-'0')
	}
	if n > 1 && rest[0] == '0' || value > math.MaxInt64 {
		return false
	}
	w.token(n, tokenNumber)
	w.dst = binary.AppendUvarint(w.dst, value)
	return true
}
