package once_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/hook/once"
)

// BenchmarkTurn is what it costs that a call is decided once where nobody else asks: each
// call is another one.
func BenchmarkTurn(b *testing.B) {
	d := once.At(b.TempDir(), "p")
	c := claude
	for n := 0; b.Loop(); n++ {
		c.Hash[0], c.Hash[1], c.Hash[2] = byte(n), byte(n>>8), byte(n>>16)
		turn, _, err := d.Enter(b.Context(), c)
		if err == nil {
			err = turn.Settle([]byte(`{"action":"silent"}`))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
