package mem_test

import (
	"testing"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// Proves I16.
func TestApprovals(t *testing.T) {
	approvals.Test(t, func(*testing.T) approve.Store { return new(mem.Approvals) }, nil)
}
