package compact

import (
	"encoding/base64"
	"encoding/hex"
)

// Cases of hex digits.
const (
	lower = 'a'
	upper = 'A'
)

// unhex decodes hex digits of one case. It reports whether all of text is in that form.
func unhex(dst, text []byte, first byte) bool {
	for i := range dst {
		high, low := digit(text[2*i], first), digit(text[2*i+1], first)
		if high|low > 15 {
			return false
		}
		dst[i] = high<<4 | low
	}
	return true
}

// digit returns the value of a hex digit, 255 for another byte.
func digit(c, first byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= first && c < first+6:
		return c - first + 10
	}
	return 255
}

// unUUID decodes a UUID.
func unUUID(dst, text []byte) bool {
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	return unhex(dst[:4], text[:8], lower) && unhex(dst[4:6], text[9:13], lower) && unhex(dst[6:8], text[14:18], lower) &&
		unhex(dst[8:10], text[19:23], lower) && unhex(dst[10:], text[24:], lower)
}

func appendUUID(dst, raw []byte) []byte {
	dst = append(hex.AppendEncode(dst, raw[:4]), '-')
	dst = append(hex.AppendEncode(dst, raw[4:6]), '-')
	dst = append(hex.AppendEncode(dst, raw[6:8]), '-')
	dst = append(hex.AppendEncode(dst, raw[8:10]), '-')
	return hex.AppendEncode(dst, raw[10:])
}

// alphabet has the digits of a ULID, five bits each.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidDigit returns the value of a digit of a ULID, 255 for another byte.
func ulidDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'H':
		return c - 'A' + 10
	case c == 'J', c == 'K':
		return c - 'J' + 18
	case c == 'M', c == 'N':
		return c - 'M' + 20
	case c >= 'P' && c <= 'T':
		return c - 'P' + 22
	case c >= 'V' && c <= 'Z':
		return c - 'V' + 27
	}
	return 255
}

// unULID decodes a ULID, which has 26 digits for 128 bits: the first one is at most 7.
func unULID(dst *[32]byte, text []byte) bool {
	if text[0] > '7' {
		return false
	}
	bits, have, n := uint32(0), 0, 0
	for i, c := range text {
		v := ulidDigit(c)
		if v == 255 {
			return false
		}
		bits, have = bits<<5|uint32(v), have+5
		if i == 0 {
			have = 3
		}
		if have >= 8 {
			have -= 8
			dst[n] = byte(bits >> have)
			n++
		}
	}
	return true
}

func appendULID(dst, raw []byte) []byte {
	bits, have := uint32(0), 2 // 26 digits have two bits more
	for _, b := range raw {
		bits, have = bits<<8|uint32(b), have+8
		for have >= 5 {
			have -= 5
			dst = append(dst, alphabet[bits>>have&31])
		}
	}
	return dst
}

// unBase64 decodes 43 digits. The last of them has two bits more than 32 bytes, which are zero.
func unBase64(dst, text []byte) bool {
	n, err := base64.RawURLEncoding.Strict().Decode(dst, text)
	return err == nil && n == len(dst)
}
