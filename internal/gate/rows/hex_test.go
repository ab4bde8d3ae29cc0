package rows_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/rows"
)

// Hex spells as encoding/hex does.
func TestHex(t *testing.T) {
	for i := range 300 {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		for j := range sum {
			if i < 256 && j == i%len(sum) {
				sum[j] = byte(i)
			}
		}
		if got, want := rows.Hex(sum), hex.EncodeToString(sum[:]); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
}
