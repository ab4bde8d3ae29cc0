package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"
)

// hexOf spells as encoding/hex does.
func TestHexOf(t *testing.T) {
	for i := range 300 {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		for j := range sum {
			if i < 256 && j == i%len(sum) {
				sum[j] = byte(i)
			}
		}
		if got, want := hexOf(sum), hex.EncodeToString(sum[:]); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
}
