package compact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"
)

// errDamaged reports a text that Append did not write.
var errDamaged = errors.New("the compact text is damaged")

// Append appends the compact form of a text to dst.
func Append(dst, text []byte) []byte {
	w := writer{dst: append(dst, version), text: text, index: index()}
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

// word writes a digest, an id or a time.
func (w *writer) word(rest []byte) bool {
	var raw [32]byte
	n := bytes.IndexByte(rest[:min(len(rest), 65)], '"')
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

// Expand appends the text of a compact form to dst. It returns an error if the form is damaged. The text has at most
// 64 times as many bytes.
func Expand(dst, small []byte) ([]byte, error) {
	if len(small) == 0 || small[0] != version {
		return append(dst, small...), nil
	}
	r := reader{dst: dst, rest: small[1:]}
	for len(r.rest) > 0 {
		token := r.rest[0]
		r.rest = r.rest[1:]
		if token >= firstShort {
			r.dst = append(r.dst, fragments[token-firstShort]...)
		} else if !r.token(token) {
			return dst, errDamaged
		}
	}
	return r.dst, nil
}

type reader struct {
	dst, rest []byte
	sums      [16]int
	count     int
}

// take returns the next n bytes, nil if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uvarint() (uint64, bool) {
	value, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return 0, false
	}
	r.rest = r.rest[n:]
	return value, true
}

// token appends the text of a token that is not a short fragment.
func (r *reader) token(token byte) bool {
	switch token {
	case tokenPlain:
		n, ok := r.uvarint()
		if !ok || n > uint64(len(r.rest)) {
			return false
		}
		r.dst = append(r.dst, r.take(int(n))...)
	case tokenSum:
		raw := r.take(32)
		if r.count < len(r.sums) {
			r.sums[r.count] = len(r.dst)
		}
		r.count++
		r.dst = hex.AppendEncode(r.dst, raw)
		return raw != nil
	case tokenSame:
		raw := r.take(1)
		if raw == nil || int(raw[0]) >= min(r.count, len(r.sums)) {
			return false
		}
		at := r.sums[raw[0]]
		r.dst = append(r.dst, r.dst[at:at+64]...)
	case tokenULID, tokenUUID:
		raw := r.take(16)
		if raw == nil {
			return false
		}
		if token == tokenULID {
			r.dst = appendULID(r.dst, raw)
		} else {
			r.dst = appendUUID(r.dst, raw)
		}
	case tokenLower:
		raw := r.take(1)
		if raw == nil {
			return false
		}
		raw = r.take(int(raw[0]))
		r.dst = hex.AppendEncode(r.dst, raw)
		return raw != nil
	case tokenBase64:
		raw := r.take(32)
		r.dst = base64.RawURLEncoding.AppendEncode(r.dst, raw)
		return raw != nil
	case tokenUpper:
		raw := r.take(13)
		r.dst = append(r.dst, bytes.ToUpper(hex.AppendEncode(nil, raw))...)
		return raw != nil
	case tokenTime:
		raw := r.take(8)
		if raw == nil {
			return false
		}
		r.dst = time.Unix(0, int64(binary.BigEndian.Uint64(raw))).UTC().AppendFormat(r.dst, time.RFC3339Nano)
	case tokenNumber:
		n, ok := r.uvarint()
		r.dst = strconv.AppendUint(r.dst, n, 10)
		return ok
	case tokenRare:
		raw := r.take(1)
		if raw == nil || short+int(raw[0]) >= len(fragments) {
			return false
		}
		r.dst = append(r.dst, fragments[short+int(raw[0])]...)
	default:
		return false
	}
	return true
}
