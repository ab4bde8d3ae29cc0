package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/store/upgrade"
	"github.com/stopgate/stopgate/internal/visible"
)

// largeStore is the size of a store, in bytes, from which on it takes a noticeable time to change its tables: about half a second.
const largeStore = 32 << 20

// AnnounceUpgrades returns a context in which a command writes a line on standard error before it brings the tables of a large store
// of an earlier version up to date.
func AnnounceUpgrades(ctx context.Context, s Streams) context.Context {
	return upgrade.Announced(ctx, func(store string, bytes int64) {
		if bytes >= largeStore {
			io.WriteString(s.Err, Fit(s.Err, fmt.Sprintf("stopgate: the tables of %s, %d MB, are brought up to date for this version, once; other programs that use the store wait\n",
				visible.Text(store), bytes/1_000_000)))
		}
	})
}
