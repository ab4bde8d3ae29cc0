package release_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/release"
)

// Proves S62: Linux and macOS are supported, and Windows says what to do.
func TestUnsupported(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		if why := release.Unsupported(system); why != "" {
			t.Errorf("%s: %s", system, why)
		}
	}
	if why := release.Unsupported("windows"); !strings.Contains(why, "WSL 2") || strings.Contains(why, "\n") {
		t.Errorf("windows: %q", why)
	}
}
