package mem_test

import (
	"testing"

	"github.com/stopgate/stopgate/agent/conversation"
	"github.com/stopgate/stopgate/internal/testkit/talks"
	"github.com/stopgate/stopgate/store/mem"
)

func TestConversations(t *testing.T) {
	talks.Run(t, func(*testing.T) conversation.Store { return new(mem.Conversations) })
}
