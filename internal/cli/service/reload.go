package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/visible"
)

// reloadPoll is the interval at which the files are compared. Polling needs no notification: a
// policy may appear in a directory that does not exist yet, and mounted secrets are replaced by
// links.
const reloadPoll = time.Second

// Reloader brings changed files into force while a gate runs: all of them or none
// (FM11).
type Reloader struct {
	Flags *inputs.Policy
	Show  func(config.MistakesError) // shows people the mistakes of a policy
	Log   *slog.Logger
	Gate  *gate.Gate
	// Files returns further files that matter.
	Files func() []string
	// Try reads all files and applies them if none has mistakes.
	Try func() error
	// Asked is called before a reload that SIGHUP asks for; it may be nil.
	Asked func()
	// Look is called at every interval; it may be nil.
	Look func()

	// Bundles are the bundles of the gate, nil if its files name none.
	Bundles *Bundles

	seen   string // the state of the files that were last tried
	hangup chan os.Signal
}

// reloadLeave is how long the end of the gate waits for a reload that is under way. A disk that
// does not answer does not keep the gate from ending.
const reloadLeave = 5 * time.Second

// Start listens for SIGHUP, and reloads then and when a file changes, until ctx ends. The caller
// has to wait for done.
func (r *Reloader) Start(ctx context.Context) (done <-chan struct{}) {
	r.Flags.Again = true
	r.seen, r.hangup = r.state(), make(chan os.Signal, 1)
	signal.Notify(r.hangup, syscall.SIGHUP)
	ended, left := make(chan struct{}), make(chan struct{})
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		r.Bundles.poll(ctx)
	}()
	go func() {
		defer close(ended)
		defer func() { <-polled }()
		defer signal.Stop(r.hangup)
		r.run(ctx)
	}()
	go func() {
		defer close(left)
		<-ctx.Done()
		select {
		case <-ended:
		case <-time.After(reloadLeave):
		}
	}()
	return left
}

func (r *Reloader) run(ctx context.Context) {
	ticker := time.NewTicker(reloadPoll)
	defer ticker.Stop()
	for {
		select {
		case <-r.hangup:
			r.seen = r.state()
			if r.Asked != nil {
				r.Asked()
			}
			r.reload(ctx)
		case <-r.Bundles.wake():
			r.reload(ctx)
			r.seen = r.state()
			r.Bundles.concluded(ctx)
		case <-ticker.C:
			if r.Look != nil {
				r.Look()
			}
			now := r.state()
			if now == r.seen {
				continue
			}
			r.seen = now
			r.Bundles.retry()
			r.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload reads all files, applies them and logs the result.
func (r *Reloader) reload(ctx context.Context) {
	err := r.readable()
	if err == nil {
		err = r.Try()
	}
	if err == nil {
		r.Log.Info("reloaded", "policy", r.Gate.PolicyHash()[:12])
		return
	}
	cause := "unreadable"
	var mistakes config.MistakesError
	if errors.As(err, &mistakes) {
		mistakes.List.Sort()
		r.Show(mistakes)
		if first := mistakes.List.Errors(); len(first) > 0 {
			cause = fmt.Sprintf("%s in %s:%d", first[0].Code, first[0].File, first[0].Range.Start.Line)
		}
	}
	r.Log.Error("reload refused: what was in force stays", "error", err, "policy", r.Gate.PolicyHash()[:12])
	r.Gate.Reject(ctx, cause)
}

// readable refuses files that can be read only once: a pipe would block this reload and all
// later ones.
func (r *Reloader) readable() error {
	for _, path := range append(r.Files(), r.Flags.Tools) {
		if path == "" {
			continue
		}
		if at, err := os.Stat(path); err == nil && !at.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", visible.Text(path))
		}
	}
	return nil
}

// SameFiles reports a file of the policy that is not there any more: it took its rules
// along (FM12).
func SameFiles(before, now config.Set) error {
	if before.Rollout != nil && now.Rollout == nil {
		return cli.Hinted(errors.New("[policy] names no bundle any more"), "without it other rules would hold: restart to want that")
	}
	for _, file := range before.Files {
		if file.Scope != config.Embedded && file.Scope != config.Bundled && now.Text(file.Path) == nil {
			return cli.Hinted(fmt.Errorf("%s is gone", visible.Text(file.Path)), "without it other rules would hold: restart to want that")
		}
	}
	return nil
}

// state describes the files that affect the policy, well enough to notice a change.
func (r *Reloader) state() string {
	f := r.Flags
	var text strings.Builder
	if dir, err := os.Getwd(); err == nil {
		where := config.Standard(dir)
		where.Policy, where.Again = f.Files, f.Again
		if set, err := config.Discover(where); err == nil {
			for _, file := range set.Files {
				fmt.Fprintf(&text, "%s %s %t\n", file.Path, file.Hash, file.Trusted)
			}
		} else {
			fmt.Fprintf(&text, "%v\n", err)
		}
	}
	if k := f.Keeper(); k != nil {
		fmt.Fprintf(&text, "%s\n", k.State())
	}
	for _, path := range append(r.Files(), f.Tools) {
		if path == "" {
			continue
		}
		at, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(&text, "%s is gone\n", path)
		case err == nil:
			fmt.Fprintf(&text, "%s %d %d\n", path, at.Size(), at.ModTime().UnixNano())
		}
	}
	return text.String()
}
