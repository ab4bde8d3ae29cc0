package main

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
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/visible"
)

// reloadPoll is how often the files are looked at. Looking is cheaper than being told:
// a policy may appear in a directory that is not there yet, and mounted secrets are
// replaced by links.
const reloadPoll = time.Second

// reloader brings changed files into force while a gate runs: all of them or none
// (FM11).
type reloader struct {
	flags *policyFlags
	show  func(config.MistakesError) // shows people the mistakes of a policy
	log   *slog.Logger
	gate  *gate.Gate
	// files are further files that matter beside those of the policy.
	files func() []string
	// try reads everything anew and puts it into force if all of it is good.
	try func() error
	// asked is called first where somebody asks for a reload; nil for nothing.
	asked func()
	// look is called as often as the files are looked at; nil for nothing.
	look func()

	seen   string // the state of the files that were last tried
	hangup chan os.Signal
}

// reloadLeave is how long a reload may take that is under way when the gate ends. A disk
// that does not answer keeps nobody from stopping it.
const reloadLeave = 5 * time.Second

// start listens for SIGHUP, and reloads then and when a file changes, until ctx ends.
// Whoever starts it waits for done.
func (r *reloader) start(ctx context.Context) (done <-chan struct{}) {
	r.flags.again = true
	r.seen, r.hangup = r.state(), make(chan os.Signal, 1)
	signal.Notify(r.hangup, syscall.SIGHUP)
	ended, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
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

func (r *reloader) run(ctx context.Context) {
	ticker := time.NewTicker(reloadPoll)
	defer ticker.Stop()
	for {
		select {
		case <-r.hangup:
			r.seen = r.state()
			if r.asked != nil {
				r.asked()
			}
			r.reload(ctx)
		case <-ticker.C:
			if r.look != nil {
				r.look()
			}
			now := r.state()
			if now == r.seen {
				continue
			}
			r.seen = now
			r.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload reads everything anew and says what came of it.
func (r *reloader) reload(ctx context.Context) {
	err := r.readable()
	if err == nil {
		err = r.try()
	}
	if err == nil {
		r.log.Info("reloaded", "policy", r.gate.PolicyHash()[:12])
		return
	}
	cause := "unreadable"
	var mistakes config.MistakesError
	if errors.As(err, &mistakes) {
		mistakes.List.Sort()
		r.show(mistakes)
		if first := mistakes.List.Errors(); len(first) > 0 {
			cause = fmt.Sprintf("%s in %s:%d", first[0].Code, first[0].File, first[0].Range.Start.Line)
		}
	}
	r.log.Error("reload refused: what was in force stays", "error", err, "policy", r.gate.PolicyHash()[:12])
	r.gate.Reject(ctx, cause)
}

// readable refuses files that can be read only once: a pipe would keep the reload, and all
// that come behind it, waiting for ever.
func (r *reloader) readable() error {
	for _, path := range append(r.files(), r.flags.tools) {
		if path == "" {
			continue
		}
		if at, err := os.Stat(path); err == nil && !at.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", visible.Text(path))
		}
	}
	return nil
}

// sameFiles reports a file of the policy that is not there any more: it took its rules
// along (FM12).
func sameFiles(before, now config.Set) error {
	for _, file := range before.Files {
		if file.Scope != config.Embedded && now.Text(file.Path) == nil {
			return hinted(fmt.Errorf("%s is gone", visible.Text(file.Path)), "without it other rules would hold: restart to want that")
		}
	}
	return nil
}

// state describes the files that decide what holds, well enough to see a change.
func (r *reloader) state() string {
	f := r.flags
	var text strings.Builder
	if dir, err := os.Getwd(); err == nil {
		where := config.Standard(dir)
		where.Policy, where.Again = f.files, f.again
		if set, err := config.Discover(where); err == nil {
			for _, file := range set.Files {
				fmt.Fprintf(&text, "%s %s %t\n", file.Path, file.Hash, file.Trusted)
			}
		} else {
			fmt.Fprintf(&text, "%v\n", err)
		}
	}
	for _, path := range append(r.files(), f.tools) {
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
