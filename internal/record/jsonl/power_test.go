package jsonl_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/dropfs"
)

// long reports whether the long tier runs.
func long() bool { return os.Getenv("STOPGATE_LONG") == "1" }

// cutFault ends a run in the middle: after the n-th call every call fails, as after a power cut.
// Before that the disk is full now and then.
func cutFault(rng *rand.Rand, n int) dropfs.Fault {
	return func(op dropfs.Op, call int) error {
		switch {
		case call >= n:
			return dropfs.ErrPower
		case op == dropfs.Write && rng.IntN(10) == 0:
			return dropfs.Partial{Keep: rng.IntN(2000)}
		}
		return nil
	}
}

// life is one log over many power cuts.
type life struct {
	fs           *dropfs.FS
	acknowledged map[stopgate.ProposalID]bool
	next         int
	files        int   // the highest number of files so far
	rotate       int64 // bytes per file, 0 without rotation
}

// run lets a recorder work until the power is cut, at a call that rng picks, and returns an error
// if the next start finds a wrong log.
func (l *life) run(rng *rand.Rand) error {
	l.fs.Fault = cutFault(rand.New(rand.NewPCG(rng.Uint64(), 2)), rng.IntN(60))
	if rec, err := jsonl.Open("/log/audit.jsonl", jsonl.Options{FS: l.fs, RotateBytes: l.rotate}); err == nil {
		var callers sync.WaitGroup
		var mu sync.Mutex
		for c := range 1 + rng.IntN(6) {
			base := l.next + 1000*c
			callers.Go(func() {
				for i := range 20 {
					id := stopgate.ProposalID(fmt.Sprint(base + i))
					if rec.Record(ctx, row(string(id))) != nil {
						continue
					}
					mu.Lock()
					l.acknowledged[id] = true
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		rec.Close()
	}
	l.next += 10000
	nosync := l.fs.NoSync
	l.fs = l.fs.Cut(rng)
	l.fs.NoSync = nosync
	return l.check()
}

// check reads the log as the next start does.
func (l *life) check() error {
	lost := maps.Clone(l.acknowledged)
	if err := l.readAll(); err != nil {
		return err
	}
	for _, name := range l.fs.Names() {
		text, _ := l.fs.Bytes(name)
		report, err := audit.Verify(bytes.NewReader(text))
		if err != nil && name == "/log/audit.jsonl" {
			return fmt.Errorf("%s: %w", name, err)
		}
		for line := range bytes.Lines(text[:report.Size]) {
			_, id, _ := bytes.Cut(line, []byte(`"id":"`))
			id, _, _ = bytes.Cut(id, []byte(`"`))
			delete(lost, stopgate.ProposalID(id))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%d of %d acknowledged rows are lost", len(lost), len(l.acknowledged))
	}
	return nil
}

// readAll reads the files of the log as one chain, as a reader does.
func (l *life) readAll() error {
	const path = "/log/audit.jsonl"
	text, ok := l.fs.Bytes(path)
	if !ok || len(text) == 0 {
		return nil
	}
	report, err := audit.Verify(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var full []string
	for _, name := range l.fs.Names() {
		if rest, ok := strings.CutPrefix(name, path+"."+report.Head.Chain+"-"); ok && report.Head.Chain != "" {
			var last int64
			if fmt.Sscanf(rest, "%d", &last); last != report.Head.Seq { // otherwise a second name of the log itself
				full = append(full, name)
			}
		}
	}
	slices.Sort(full)
	v := audit.NewVerifier()
	for _, name := range append(full, path) {
		v.File()
		text, _ := l.fs.Bytes(name)
		if name == path {
			text = text[:report.Size]
		}
		for line := range bytes.Lines(text) {
			if err := v.Row(line); err != nil {
				return fmt.Errorf("%s of %d: %w", name, len(full)+1, err)
			}
		}
	}
	all, err := v.End()
	if err == nil && report.Rows > 0 && all.Head.Seq != all.Rows {
		err = fmt.Errorf("%d rows of %d in %d files", all.Rows, all.Head.Seq, len(full)+1)
	}
	l.files = max(l.files, len(full)+1)
	return err
}

// Proves I22, FM4: power cuts at any call, with unsynced sectors dropped, torn and
// reordered, lose no acknowledged row and leave a chain.
func TestPowerCuts(t *testing.T) {
	cuts := 2000
	if long() {
		cuts = 100_000
	} else if testing.Short() {
		cuts = 400
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	rows, torn, files := 0, 0, 0
	for done := 0; done < cuts; {
		l := &life{fs: &dropfs.FS{}, acknowledged: map[stopgate.ProposalID]bool{}, rotate: []int64{0, 1, 700, 3000}[done/8%4]}
		for range 8 {
			if err := l.run(rng); err != nil {
				t.Fatalf("seed %d, cut %d: %v", seed, done, err)
			}
			if text, ok := l.fs.Bytes("/log/audit.jsonl"); ok {
				if r, _ := audit.Verify(bytes.NewReader(text)); r.Torn > 0 {
					torn++
				}
			}
			done++
		}
		rows, files = rows+len(l.acknowledged), files+l.files
	}
	t.Logf("seed %d: %d cuts, %d rows acknowledged, %d torn ends, %d files", seed, cuts, rows, torn, files)
	if files < cuts/4 || torn < cuts/100 || rows < cuts {
		t.Error("the cuts hit nothing: the test has gone stale")
	}
}

// Proves M33: this test detects a recorder that acknowledges without a sync.
func TestPowerCutsFindARecorderWithoutSync(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		l := &life{fs: &dropfs.FS{NoSync: true}, acknowledged: map[stopgate.ProposalID]bool{}}
		for range 4 {
			if l.run(rng) != nil {
				return
			}
		}
	}
	t.Error("800 power cuts did not find that nothing is synced")
}
