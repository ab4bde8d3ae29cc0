package mem_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
	"github.com/stopgate/stopgate/session"
)

// A session of a hundred thousand facts is updated as fast as a new one (S38).
func BenchmarkUpdate(b *testing.B) {
	for _, facts := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("facts=%d", facts), func(b *testing.B) {
			s := mem.New()
			storetest.Grow(b, s, session.Owner{Principal: "local", Session: "s0"}, facts)
			storetest.BenchUpdates(b, s, 1, nil)
		})
	}
}
