package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

// errUnread is the error for a table [policy] that was not found before the files were compiled.
var errUnread = errors.New("[policy] is written in a way that was not read: write its keys plainly, without escapes")

// fetchTime is how long an event waits for the channel of the policy bundle, unless there is no good
// bundle yet.
const fetchTime = 2 * time.Second

// withBundle adds the policy bundle that the operator's files name, as it applies to a session. If the
// channel was not asked for a while, it is asked first: a hook has no other process that does.
func (w *wiring) withBundle(ctx context.Context, set config.Set, o policy.Options, id stopgate.SessionID) (config.Set, error) {
	settings, ok, err := bundles.Of(set)
	if err != nil || !ok {
		return set, err
	}
	k, err := bundles.New(settings, w.program.Caller.Account, nil)
	if err != nil {
		return set, err
	}
	if k.Due() {
		if w.program.Fetch == nil {
			return set, w.full(ctx)
		}
		if k, err = bundles.New(settings, w.program.Caller.Account, w.program.Fetch(settings)); err != nil {
			return set, err
		}
		if err := w.refresh(ctx, k, set, o); err != nil {
			fmt.Fprintf(w.log, "stopgate: %s\n", visible.Text(err.Error()))
		}
	}
	with, err := k.Add(set)
	if err != nil {
		return set, fmt.Errorf("no policy bundle of %s: %w", settings.Channel, err)
	}
	return with.For(id), nil
}

// refresh asks the channel and tries what it has. The last good bundle stays in force after an error.
func (w *wiring) refresh(ctx context.Context, k *bundles.Keeper, set config.Set, o policy.Options) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := k.Poll(ctx); err != nil || !k.Candidate() {
		return err
	}
	with, err := k.Add(set)
	if err != nil {
		return k.Conclude(err)
	}
	for _, part := range []config.Set{with, with.For("")} { // the rules of all sessions
		if _, _, err = w.compile(ctx, part, o); err != nil {
			break
		}
	}
	return k.Conclude(err)
}
