package chain_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// Proves V3-01: one chain serves many exchanges concurrently, and none sees the content of another.
func TestOneChainForAll(t *testing.T) {
	c := chained(t, redaction(t, events.Redaction{Patterns: []string{`sk-\d{4,}`}, Response: true, Request: true}), forward{"a"}, upper{})
	var all sync.WaitGroup
	for n := range 32 {
		all.Go(func() {
			word := strings.Repeat("x", n) + " sk-1234 "
			want := strings.Repeat("X", n) + " [REDACTED] "
			for range 20 {
				run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
				if _, err := run.Request(t.Context(), []byte(`{"messages":[{"content":"sk-12345"}]}`)); err != nil {
					t.Error(err)
				}
				out, err := io.ReadAll(run.Reader(t.Context(), strings.NewReader(chatOf(word[:n+4], word[n+4:], word))))
				if got := tellChat(string(out)); err != nil || got != want+want {
					t.Errorf("%q, %v", got, err)
				}
				run.Complete(t.Context())
			}
		})
	}
	all.Wait()
}
