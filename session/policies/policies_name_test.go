package policies_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// Proves S37: a name that is taken is an error that says which.
func TestTakenName(t *testing.T) {
	r := session.NewRegistry()
	if err := r.Register(policies.Limit("refund").Calls(1)); err != nil {
		t.Fatal(err)
	}
	err := r.Register(policies.Limit("refund").Sum("/amount", "5"))
	if !errors.Is(err, session.ErrName) || !strings.Contains(err.Error(), "limit:refund") {
		t.Errorf("%v", err)
	}
	if err := r.Register(policies.Limit("refund").Sum("/amount", "5").Named("daily")); err != nil {
		t.Error(err)
	}
}
