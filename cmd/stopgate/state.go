package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// state is what a running gate keeps: facts, approvals and records.
type state struct {
	settings place.Settings
	store    *sqlite.Store   // nil: in memory
	lines    *jsonl.Recorder // nil: records go to the store
	facts    gate.Store
	// questions keeps what people are asked.
	questions approve.Store
	orders    gate.Lockdowns
	records   gate.Recorder
	place     string // where the records go, for people
	// failed are closed when what they are about is not trusted any more; nil never.
	failed [2]<-chan struct{}
}

// openState opens the store and the records.
func openState(ctx context.Context, s place.Settings) (*state, error) {
	st := &state{settings: s}
	if err := st.open(ctx, s); err != nil {
		return nil, errors.Join(err, st.close())
	}
	return st, nil
}

func (st *state) open(ctx context.Context, s place.Settings) (err error) {
	if s.Store != place.Memory {
		if st.store, err = s.Open(ctx); err != nil {
			return err
		}
		st.facts, st.questions, st.orders = st.store, st.store, st.store
		st.records, st.place, st.failed[0] = st.store.Recorder(), s.Store, st.store.Failed()
	} else {
		st.memory()
	}
	if s.AuditFile == "" && s.Store != place.Memory {
		return nil
	}
	return st.openLines(s)
}

func (st *state) openLines(s place.Settings) (err error) {
	path := s.AuditFile
	if path == "" {
		st.lines, path, err = s.OwnLines()
	} else {
		st.lines, err = s.Lines(path)
	}
	if errors.Is(err, jsonl.ErrInUse) {
		return hinted(err, "name another file with --audit, or stop the stopgate that writes to this one")
	}
	if err != nil {
		return err
	}
	st.records, st.place, st.failed[1] = st.lines, path, st.lines.Failed()
	return nil
}

// memory keeps everything but the records for the life of the process.
func (st *state) memory() {
	store := mem.New()
	st.facts, st.questions, st.orders = store, new(mem.Approvals), store
}

// close writes what is queued.
func (st *state) close() error {
	var errs []error
	if st.lines != nil {
		errs = append(errs, st.lines.Close())
	}
	if st.store != nil {
		errs = append(errs, st.store.Close())
	}
	return errors.Join(errs...)
}

// trust waits until the records cannot be trusted any more, or ctx ends. A gate that
// can only deny is better started anew by its supervisor (FM4).
func (st *state) trust(ctx context.Context, end context.CancelCauseFunc) {
	select {
	case <-st.failed[0]:
		end(hinted(st.store.Database().Err(), untilThen))
	case <-st.failed[1]:
		end(hinted(st.lines.Err(), untilThen))
	case <-ctx.Done():
	}
}

// untilThen is what holds while nobody does what the error of a record says.
const untilThen = "no call runs until then"

// attend serves, and does meanwhile what every gate that runs for a while needs: it
// follows the orders to lock down, keeps the store tidy, sends telemetry, says why it can
// allow nothing, and ends when the records cannot be trusted any more.
func (st *state) attend(ctx context.Context, g *gate.Gate, tele *telemetry, log *slog.Logger, ordered func(gate.Lockdown),
	serve func(ctx context.Context, cancel context.CancelCauseFunc) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	standing, err := st.orders.Lockdown(ctx)
	if err != nil {
		return err
	}
	g.Lock(standing)
	last, err := st.newest(ctx)
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	tele.run(ctx)
	defer func() {
		cancel(nil)
		tele.work.Wait()
		beside.Wait()
	}()
	beside.Go(func() { g.Follow(ctx, st.orders, lockdownPoll, ordered) })
	beside.Go(func() { st.tidy(ctx, log, last) })
	beside.Go(func() { st.trust(ctx, cancel) })
	beside.Go(func() { (&ailing{log: log, place: st.place}).watch(ctx, g) })
	return ended(ctx, serve(ctx, cancel))
}

// ended is how something ended that ran until ctx did: with the trouble that ended ctx.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); isHinted(cause) && !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}
	return err
}

// orphanAge is when a question without a decision belongs to a process that died: no
// live one waits for so long.
const orphanAge = time.Hour

// leap is how far the clock may be ahead of when the gate last knew it: what is pruned is
// gone, and the clock may be put right within hours (FM13).
const leap = 7 * 24 * time.Hour

// newest is when the last record was written, zero if there is none.
func (st *state) newest(ctx context.Context) (time.Time, error) {
	if st.store == nil {
		return time.Time{}, nil
	}
	return rows.Newest(ctx, st.store.Database())
}

// tidy records what dead processes left open and prunes what is older than the
// retention, now and every few hours, until ctx ends. Of a clock that leapt since last it
// believes no more than the leap: a gate that is used seldom, for an hour, prunes too.
func (st *state) tidy(ctx context.Context, log *slog.Logger, last time.Time) {
	if st.store == nil && st.lines == nil {
		return
	}
	ticker := time.NewTicker(6 * time.Hour)
	defer ticker.Stop()
	for {
		now := time.Now()
		believed, leapt := now, !last.IsZero() && now.Round(0).Sub(last) > leap
		if leapt {
			believed = last.Add(leap)
			log.Warn("little is pruned for the next hours: the clock is far ahead of the last record, or of when it was looked at last", "then", last.UTC(), "now", now.UTC())
		}
		last = now.Round(0)
		if st.lines != nil && st.settings.RowsDays > 0 {
			switch gone, err := jsonl.Prune(st.place, st.settings.Retention(believed).Rows); {
			case err != nil:
				log.Warn("old files of records could not be pruned", "error", err)
			case gone.Files > 0:
				log.Info("pruned", "files", gone.Files, "rows", gone.Rows)
			}
		}
		if st.store == nil {
			if !pause(ctx, ticker) {
				return
			}
			continue
		}
		if !leapt { // by such a clock every question that waits is old
			if n, err := st.store.Recorder().Cancel(ctx, now.Add(-orphanAge), now); err == nil && n > 0 {
				log.Info("recorded as cancelled: their process died", "proposals", n)
			}
		}
		gone, err := st.store.Retain(ctx, st.settings.Retention(believed), now)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("old records could not be pruned", "error", err)
		case gone != (sqlite.Pruned{}):
			log.Info("pruned", "rows", gone.Rows, "arguments", gone.Arguments, "facts", gone.Facts, "sessions", gone.Sessions, "approvals", gone.Approvals)
		}
		if !pause(ctx, ticker) {
			return
		}
	}
}

// pause waits for the next tick, or reports that ctx has ended.
func pause(ctx context.Context, ticker *time.Ticker) bool {
	select {
	case <-ticker.C:
		return true
	case <-ctx.Done():
		return false
	}
}
