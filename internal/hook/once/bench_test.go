package once_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/hook/once"
)

// BenchmarkLease measures the cost of deciding a call once without other hooks: each call is a
// different one.
func BenchmarkLease(b *testing.B) {
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
