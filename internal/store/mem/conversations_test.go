package mem_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/talks"
)

func TestConversations(t *testing.T) {
	talks.Run(t, func(*testing.T) conversation.Store { return new(mem.Conversations) })
}
