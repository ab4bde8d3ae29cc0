// Package once lets one call be decided once, however many hooks are asked about it:
// Cursor and Copilot CLI run the hooks of Claude Code too, and a hook can stand in the
// settings of the user and of the project (DECISIONS S49).
//
//	desk := once.At("/home/u/.local/state/stopgate/hooks", policy)
//	turn, said, err := desk.Enter(ctx, once.Call{...})
//	switch {
//	case err != nil: // nothing may run
//	case turn == nil: // another process has decided: said is its answer
//	default: // decide, then
//		err = turn.Settle(answer)
//	}
//
// Each call has a file, whose lock belongs to the process that decides. So the end of
// that process is seen at once, whatever ended it: whoever waits then finds no answer,
// and gets an error (FM9).
//
// Two processes are about one call if rules, principal, tool, directory and arguments are the same, and
// the host gave the call one id; or, where the hosts differ, if the second comes while
// the first decides, or within [Window] of its end. An answer is given away once to each
// other host, so that a call that is repeated is not taken for the one before.
package once

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/plainfile"
	"github.com/stopgate/stopgate/jsonstream"
)

// Window is how long after its decision another process may be about the same call.
const Window = 2 * time.Second

// ErrUnanswered says that the process that had to decide ended without an answer.
var ErrUnanswered = errors.New("another hook was deciding about the same call and ended without an answer")

// Call says what a hook is asked about.
type Call struct {
	Principal, Tool string
	Hash            [32]byte // of the arguments
	Dir             string   // where relative paths begin
	// Host, Session and ID are how this hook's host calls itself, the session, the call.
	Host, Session, ID string
}

// Desk is a directory of calls that are being decided. It is safe for concurrent use.
type Desk struct {
	dir   string
	under string
	now   func() time.Time

	mu    sync.Mutex
	swept time.Time
}

// At returns the desk in a directory, which is made when it is needed. Processes that
// decide under other rules, of which under is a name, answer for themselves.
func At(dir, under string) *Desk { return &Desk{dir: dir, under: under, now: time.Now} }

// Turn is the duty to decide.
type Turn struct {
	file *os.File // nil: nobody waits
	end  int64    // of the file, which nobody else writes to
	now  func() time.Time
}

// maxClaim is the longest file that is read, in bytes.
const maxClaim = 80 << 20

// Enter waits until it is known who decides. With a Turn it is the caller; without one
// said is what another process has answered. The end of ctx is an error.
func (d *Desk) Enter(ctx context.Context, c Call) (turn *Turn, said []byte, err error) {
	path := filepath.Join(d.dir, c.name(d.under))
	waited := false
	for {
		f, err := d.open(path)
		if err != nil {
			return nil, nil, err
		}
		free, err := lock(f)
		if err != nil {
			f.Close()
			return nil, nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !free {
			other := read(f)
			f.Close()
			if other != nil && !other.about(c) {
				return &Turn{now: d.now}, nil, nil // another call with the same arguments
			}
			waited = waited || other != nil
			if err := pause(ctx); err != nil {
				return nil, nil, err
			}
			continue
		}
		info := named(f, path)
		if info == nil { // taken away by a sweep
			f.Close()
			continue
		}
		turn, said, err := d.owned(f, info.Size(), c, waited)
		if turn == nil || turn.file == nil {
			f.Close()
		}
		return turn, said, err
	}
}

// open opens the file of a call, or makes it, and the directory if there is none.
func (d *Desk) open(path string) (*os.File, error) {
	f, err := plainfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return nil, err
		}
		return plainfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	return f, err
}

// owned decides with the lock in hand.
func (d *Desk) owned(f *os.File, size int64, c Call, waited bool) (*Turn, []byte, error) {
	if size > 0 {
		if other := read(f); other != nil && other.about(c) {
			age := d.now().Sub(other.ended).Abs() // a clock that was put back makes no answer young
			switch {
			case !other.answered && (waited || age < Window):
				return nil, nil, ErrUnanswered
			case other.answered && (waited || age < Window) && other.given(c.Host) < other.share(c):
				err := writeLine(f, other.end, `{"given":`+quote(c.Host)+`}`)
				if err == nil {
					err = os.WriteFile(filepath.Join(d.dir, c.twin()), nil, 0o600)
				}
				return nil, other.said, err
			}
		}
	}
	d.sweep()
	line := fmt.Sprintf(`{"host":%s,"session":%s,"id":%s,"at":%d}`, quote(c.Host), quote(c.Session), quote(c.ID), d.now().UnixMilli())
	end := int64(len(line)) + 1
	// What stood there becomes a blank line, behind which nothing counts. A file that is cut
	// and written again is brought to the disk when it is closed, by some file systems.
	if blank := size - end; blank > 0 {
		line += "\n" + strings.Repeat(" ", int(blank-1))
	}
	if err := writeLine(f, 0, line); err != nil {
		return nil, nil, err
	}
	return &Turn{file: f, end: end, now: d.now}, nil, nil
}

// Settle leaves the answer, which is JSON, to whoever else is asked.
func (t *Turn) Settle(answer []byte) error {
	if t.file == nil {
		return nil
	}
	err := writeLine(t.file, t.end, fmt.Sprintf(`{"at":%d,"said":%s}`, t.now().UnixMilli(), answer))
	return errors.Join(err, t.Leave())
}

// Leave gives up the turn. Without an answer, whoever waits gets [ErrUnanswered].
func (t *Turn) Leave() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}

// claim is what a file says.
type claim struct {
	host, session, id string
	answered          bool
	ended             time.Time // of the decision, or its beginning where there is none
	said              []byte
	to                []string // hosts that the answer was given to
	end               int64    // of its lines; what is behind them is of an earlier claim
}

// about reports whether a claim can be about a call.
func (k *claim) about(c Call) bool {
	if k.host != c.Host {
		return true // what their ids say of each other is not known
	}
	return k.id != "" && k.id == c.ID && k.session == c.Session
}

// share is how often an answer is given to a host: once to another one; to its own as
// often as a hook can stand in settings beside the first.
func (k *claim) share(c Call) int {
	if k.host != c.Host {
		return 1
	}
	return 2
}

func (k *claim) given(host string) (n int) {
	for _, h := range k.to {
		if h == host {
			n++
		}
	}
	return n
}

// read reads a claim; nil if there is none.
func read(f *os.File) *claim {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxClaim))
	if err != nil {
		return nil
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	var k *claim
	for _, line := range lines {
		root, err := jsonstream.Parse(bytes.TrimSuffix(line, []byte("\n")), jsonstream.Options{ObjectRoot: true, MaxBytes: maxClaim, MaxExponent: jsonstream.AnyExponent})
		if err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			break // torn: nothing behind it counts
		}
		at := millis(root)
		switch {
		case k == nil:
			k = &claim{host: text0(root, "host"), session: text0(root, "session"), id: text0(root, "id"), ended: at}
		case text0(root, "given") != "":
			k.to = append(k.to, text0(root, "given"))
		default:
			said, ok := root.Get("said")
			if ok {
				k.said, k.answered, k.ended = bytes.Clone(said.Raw()), true, at
			}
		}
		k.end += int64(len(line))
	}
	return k
}

func text0(root jsonstream.Value, key string) string {
	v, _ := root.Get(key)
	return v.Text()
}

func millis(root jsonstream.Value) time.Time {
	v, _ := root.Get("at")
	var n int64
	_, _ = fmt.Sscan(string(v.Raw()), &n)
	return time.UnixMilli(n)
}

func quote(text string) string { return string(jsonstream.AppendQuote(nil, text)) }

// writeLine writes a line in one piece.
func writeLine(f *os.File, at int64, line string) error {
	_, err := f.WriteAt([]byte(line+"\n"), at)
	return err
}

// name is the file of a call.
func (c Call) name(under string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %x", under, c.Principal, c.Tool, c.Dir, c.Hash))
	return fmt.Sprintf("%x.call", sum[:16])
}

// twin is the file that says that a call was given another's answer.
func (c Call) twin() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %x", c.Principal, c.Host, c.Session, c.ID, c.Tool, c.Hash))
	return fmt.Sprintf("%x.twin", sum[:16])
}

// Gave reports whether Enter gave another's answer for a call: then the other hears of
// its result.
func (d *Desk) Gave(c Call) bool {
	_, err := os.Stat(filepath.Join(d.dir, c.twin()))
	return err == nil
}

// twins is how long it is remembered that a call was given another's answer.
const twins = time.Hour

// named says about a file what its directory does, nil if it does not have its name any more.
func named(f *os.File, path string) fs.FileInfo {
	a, err := f.Stat()
	if err != nil {
		return nil
	}
	if b, err := os.Stat(path); err != nil || !os.SameFile(a, b) {
		return nil
	}
	return a
}

// pause waits for a moment.
func pause(ctx context.Context) error {
	timer := time.NewTimer(2 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the other hook: %w", context.Cause(ctx))
	}
}

// sweep removes what nobody can be about any more, at most once in a Window. What cannot
// be removed stays.
func (d *Desk) sweep() {
	d.mu.Lock()
	now := d.now()
	early := !d.swept.IsZero() && now.Sub(d.swept).Abs() < Window
	if !early {
		d.swept = now
	}
	d.mu.Unlock()
	if early {
		return
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Type() != 0 {
			continue
		}
		path, age := filepath.Join(d.dir, e.Name()), d.now().Sub(info.ModTime())
		switch {
		case filepath.Ext(path) == ".call" && age >= 2*Window:
			d.remove(path)
		case filepath.Ext(path) == ".twin" && age >= twins:
			_ = os.Remove(path)
		}
	}
}

// remove removes the file of a call that nobody decides about.
func (d *Desk) remove(path string) {
	f, err := plainfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if free, err := lock(f); err != nil || !free {
		return
	}
	if info := named(f, path); info != nil && d.now().Sub(info.ModTime()) >= 2*Window {
		_ = os.Remove(path)
	}
}
