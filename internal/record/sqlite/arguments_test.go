package sqlite

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Arguments of every length are restored byte for byte, and source code takes half of its bytes.
func TestPackedArguments(t *testing.T) {
	line := "\tif err := r.write(ctx, row); err != nil {\\n\t\treturn fmt.Errorf(\\\"row %d: %w\\\", n, err)\\n\t}\\n"
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, long - 1, long, long + 1, 70_000, 1 << 20} {
		random := make([]byte, n)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		for _, args := range [][]byte{random, []byte(strings.Repeat(line, n/len(line)+1)[:n])} {
			if got := expanded(packed(args)); !bytes.Equal(got, args) {
				t.Errorf("%d bytes are restored as %d others", len(args), len(got))
			}
		}
	}
	code := []byte(strings.Repeat(line, 100))
	if stored := packed(code); 2*len(stored) > len(code) {
		t.Errorf("%d bytes of source code take %d", len(code), len(stored))
	}
}

// A damaged block is no arguments that were given, and needs no memory that it claims to need.
func TestDamagedArguments(t *testing.T) {
	args := []byte(`{"content":"` + strings.Repeat("a line of text\\n", 200) + `"}`)
	whole := packed(args)
	for at := range whole {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x10
		if at > 4 && bytes.Equal(expanded(damaged), args) {
			t.Errorf("byte %d does not matter", at)
		}
		_ = expanded(whole[:at])
	}
	huge := append([]byte{block}, 0xff, 0xff, 0xff, 0xff, 0x0f) // 4 GiB
	if got := expanded(huge); !bytes.Equal(got, huge) {
		t.Errorf("a block of 4 GiB has %d bytes", len(got))
	}
}
