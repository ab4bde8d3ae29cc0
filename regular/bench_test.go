package regular_test

import (
	"bytes"
	"testing"

	"github.com/stopgate/stopgate/regular"
)

// The text that makes a backtracking engine explode (D5).
func BenchmarkCatastrophic(b *testing.B) {
	p, err := regular.Compile(`^(a+)+$`)
	if err != nil {
		b.Fatal(err)
	}
	text := append(bytes.Repeat([]byte("a"), 5000), '!')
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if p.Match(text) {
			b.Fatal("matches")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := regular.Compile(`^[a-z0-9]+(?:-[a-z0-9]+)*@(?:\w+\.){1,5}[a-z]{2,10}$`); err != nil {
			b.Fatal(err)
		}
	}
}
