package rows

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hex returns a hash in lower-case hex.
func Hex(sum [sha256.Size]byte) string {
	var text [2 * sha256.Size]byte
	for i := range len(sum) / 4 { // four bytes at a time: each digit in a byte of its own
		x := uint64(binary.BigEndian.Uint32(sum[4*i:]))
		x = (x<<16 | x) & 0x0000ffff0000ffff
		x = (x<<8 | x) & 0x00ff00ff00ff00ff
		x = (x<<4 | x) & 0x0f0f0f0f0f0f0f0f
		letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101 // where a digit is above 9
		binary.BigEndian.PutUint64(text[8*i:], x+0x3030303030303030+letters*('a'-'0'-10))
	}
	return string(text[:])
}
