// Package trust finds out whether a coding agent runs an installed hook. Some run a hook only after
// their user has trusted it, and skip any other without a message.
//
//	t := trust.Of(ctx, host, location, file, lines)
//	if t.Missing != "" {
//		fmt.Println(t.Missing, host.TrustHint)
//	}
package trust

import (
	"context"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
)

// Trust reports whether a host runs a hook, and the missing permission if it does not. The zero
// Trust is a hook that runs.
type Trust struct {
	Missing string // why the host does not run the hook
	Unsure  string // why it is unknown whether it does
}

// Of returns the trust in the hooks in a settings file, which start these command lines.
func Of(ctx context.Context, h *hook.Host, at install.Location, file string, lines []string) Trust {
	switch h.Name {
	case "codex":
		return codex(ctx, h.Program, at, file, lines)
	}
	return Trust{}
}
