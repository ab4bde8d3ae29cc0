package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/location"
)

// State is the state of a running gate: facts, approvals and records.
type State struct {
	Settings place.Settings
	Store    backend.Store   // nil: in memory
	Lines    *jsonl.Recorder // nil: records go to the store
	Facts    gate.Store
	// Questions keeps questions and answers.
	Questions approve.Store
	Orders    gate.Lockdowns
	Records   gate.Recorder
	At        string // location of the records
	Place     string // the same for people
	// failed are closed when the store or the file of records is not trusted any more; nil
	// never.
	failed [2]<-chan struct{}
}

// Open opens the store and the records.
func Open(ctx context.Context, s place.Settings) (*State, error) {
	st := &State{Settings: s}
	if err := st.open(ctx, s); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

func (st *State) open(ctx context.Context, s place.Settings) (err error) {
	if s.Store != place.Memory {
		if st.Store, err = s.Open(ctx); err != nil {
			return err
		}
		st.Facts, st.Questions, st.Orders = st.Store, st.Store, st.Store
		st.Records, st.At, st.Place, st.failed[0] = st.Store.Recorder(), s.Store, location.Show(s.Store), st.Store.Failed()
	} else {
		st.memory()
	}
	if s.AuditFile == "" && s.Store != place.Memory {
		return nil
	}
	return st.openLines(s)
}

func (st *State) openLines(s place.Settings) (err error) {
	path := s.AuditFile
	if path == "" {
		st.Lines, path, err = s.OwnLines()
	} else {
		st.Lines, err = s.Lines(path)
	}
	if errors.Is(err, jsonl.ErrInUse) {
		return cli.Hinted(err, "name another file with --audit, or stop the stopgate that writes to this one")
	}
	if err != nil {
		return err
	}
	st.Records, st.At, st.Place, st.failed[1] = st.Lines, path, path, st.Lines.Failed()
	return nil
}

// Gate returns a gate on the state: with its records, facts, judges and external policies.
func (st *State) Gate(p gate.Policy, tele *Telemetry, further ...gate.Option) (*gate.Gate, error) {
	return gate.New(p, append([]gate.Option{
		tele.Tracer(), gate.WithRecorder(st.Records), gate.WithStore(st.Facts), Judges(st.Store), gate.WithExternals(tele.External.Open), gate.WithDenyMode(gate.DenyToolResult),
	}, further...)...)
}

// memory keeps everything but the records for the life of the process.
func (st *State) memory() {
	store := kinds.Memory()
	st.Facts, st.Questions, st.Orders = store, store, store
}

// Close writes queued rows and closes the store and the records.
func (st *State) Close() error {
	var errs []error
	if st.Lines != nil {
		errs = append(errs, st.Lines.Close())
	}
	if st.Store != nil {
		errs = append(errs, st.Store.Close())
	}
	return errors.Join(errs...)
}

// Trust waits until the records cannot be trusted any more, or ctx ends. A gate that can only
// deny is better restarted by its supervisor (FM4).
func (st *State) Trust(ctx context.Context, end context.CancelCauseFunc) {
	select {
	case <-st.failed[0]:
		end(cli.Hinted(st.Store.Err(), untilThen))
	case <-st.failed[1]:
		end(cli.Hinted(st.Lines.Err(), untilThen))
	case <-ctx.Done():
	}
}

// untilThen is the hint with an error of the records.
const untilThen = "no call runs until then"

// Attend serves, and meanwhile follows lockdowns, prunes the store, sends telemetry and reports
// why no call can be permitted. It ends when the records cannot be trusted any more.
func (st *State) Attend(ctx context.Context, g *gate.Gate, tele *Telemetry, log *slog.Logger, ordered func(gate.Lockdown),
	serve func(ctx context.Context, cancel context.CancelCauseFunc) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	standing, err := st.Orders.Lockdown(ctx)
	if err != nil {
		return err
	}
	g.Lock(standing)
	last, err := st.newest(ctx)
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	tele.Run(ctx)
	defer func() {
		cancel(nil)
		tele.Work.Wait()
		beside.Wait()
	}()
	beside.Go(func() { g.Follow(ctx, st.Orders, LockdownPoll, ordered) })
	beside.Go(func() { st.tidy(ctx, log, last) })
	beside.Go(func() { st.Trust(ctx, cancel) })
	beside.Go(func() { (&healthLog{log: log, place: st.Place}).watch(ctx, g) })
	return Ended(ctx, serve(ctx, cancel))
}

// Ended is how something ended that ran until ctx did: with the trouble that ended ctx.
func Ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cli.IsHinted(cause) && !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}
	return err
}

// orphanAge is when a question without a decision belongs to a process that died: no
// live one waits for so long.
const orphanAge = time.Hour

// leap is how far the clock may be ahead of the gate's last row: pruned rows are gone, and the
// clock may be corrected within hours (FM13).
const leap = 7 * 24 * time.Hour

// newest is when the last record was written, zero if there is none.
func (st *State) newest(ctx context.Context) (time.Time, error) {
	if st.Store == nil {
		return time.Time{}, nil
	}
	return st.Store.Newest(ctx)
}

// tidy closes the records that dead processes left open and prunes rows older than the
// retention, now and every few hours, until ctx ends. A clock that leapt since last counts as no
// more than the leap: a gate that is seldom used, for an hour, prunes too.
func (st *State) tidy(ctx context.Context, log *slog.Logger, last time.Time) {
	if st.Store == nil && st.Lines == nil {
		return
	}
	st.convert(ctx, log)
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
		if st.Lines != nil && st.Settings.RowsDays > 0 {
			switch gone, err := jsonl.Prune(st.At, st.Settings.Retention(believed).Rows); {
			case err != nil:
				log.Warn("old files of records could not be pruned", "error", err)
			case gone.Files > 0:
				log.Info("pruned", "files", gone.Files, "rows", gone.Rows)
			}
		}
		if st.Store == nil {
			if !pause(ctx, ticker) {
				return
			}
			continue
		}
		if !leapt { // by such a clock every question that waits is old
			if n, err := st.Store.Recorder().Cancel(ctx, now.Add(-orphanAge), now); err == nil && n > 0 {
				log.Info("recorded as cancelled: their process died", "proposals", n)
			}
		}
		gone, err := st.Store.Retain(ctx, st.Settings.Retention(believed), now)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn("old records could not be pruned", "error", err)
		case gone != (backend.Pruned{}):
			log.Info("pruned", "rows", gone.Rows, "arguments", gone.Arguments, "facts", gone.Facts, "sessions", gone.Sessions, "approvals", gone.Approvals)
		}
		if !pause(ctx, ticker) {
			return
		}
	}
}

// convertReport is how often the progress of a conversion is logged.
const convertReport = 10 * time.Second

// convert writes the records of an earlier version in the form of this one.
func (st *State) convert(ctx context.Context, log *slog.Logger) {
	if st.Store == nil {
		return
	}
	reported, begun := time.Now(), false
	err := st.Store.Convert(ctx, func(left int64) {
		switch {
		case left > 0 && time.Since(reported) >= convertReport:
			log.Info("records of an earlier version are being converted", "left", left)
			reported, begun = time.Now(), true
		case left == 0 && begun:
			log.Info("records of an earlier version are converted")
		}
	})
	if err != nil && ctx.Err() == nil {
		log.Warn("records of an earlier version could not be converted: they are read as they are", "error", err)
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
