package compact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"time"
)

// errDamaged reports a text that Append did not write, or a name that is missing.
var errDamaged = errors.New("the compact text is damaged")

// Expand appends the text of a compact form to dst. It returns an error if the form is damaged, or if names lacks one of its
// names. The text has at most 64 times as many bytes.
func Expand(dst, small []byte, names Names) ([]byte, error) {
	if len(small) == 0 || small[0] != version {
		return append(dst, small...), nil
	}
	r := reader{dst: dst, rest: small[1:], names: names}
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
	names     Names
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
	case tokenName:
		n, ok := r.uvarint()
		if !ok || r.names == nil {
			return false
		}
		name, ok := r.names.Text(n)
		if !ok || len(name) > LongestName {
			return false
		}
		r.dst = append(r.dst, name...)
	default:
		return false
	}
	return true
}
