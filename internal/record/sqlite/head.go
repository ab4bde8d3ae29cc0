package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/store/database"
)

// headFile stores the end of the chain outside the database, so that rows missing from the end are
// detected. It is written after the commit: a head that is older than the chain is the result of a
// crash and is moved; one that is newer than the chain is damage.
//
// It has two slots, each with a checksum. The older one is overwritten, so that a crash leaves the
// other intact. Processes share the file under its lock.
type headFile struct {
	path string

	mu    sync.Mutex
	file  *os.File
	dirty bool
	seen  headText // as this process read or wrote it last
}

// headText is the content of a head file, and its meaning.
type headText struct {
	text  []byte
	head  audit.Head // the newest one, zero if there is none
	older int        // the slot to overwrite next
}

// slot is the size of one slot, a sector.
const slot = 512

// headSlot is a head with the checksum of the fields before Sum.
type headSlot struct {
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
	Sum   string `json:"sum,omitempty"`
}

func (s headSlot) sum() string {
	_, sum := s.encode()
	return sum
}

// encode returns the slot with the checksum of its other fields, and the checksum.
func (s headSlot) encode() (text []byte, sum string) {
	s.Sum = ""
	text, _ = json.Marshal(s) // cannot fail: strings and a number
	digest := sha256.Sum256(text)
	sum = hex.EncodeToString(digest[:])
	return append(append(append(text[:len(text)-1], `,"sum":"`...), sum...), `"}`...), sum
}

// read returns the newest head, or the zero Head if there is none, and the slot to overwrite next.
func (h *headFile) read() (head audit.Head, older int, err error) {
	f, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return head, 0, nil
	}
	if err != nil {
		return head, 0, err
	}
	defer f.Close()
	text, err := readHead(f)
	if err != nil {
		return head, 0, err
	}
	head, older = parseHead(text)
	return head, older, nil
}

// readHead reads the content of a head file.
func readHead(f io.ReaderAt) ([]byte, error) {
	text := make([]byte, 2*slot)
	n, err := f.ReadAt(text, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:n], err
}

// parseHead returns the newest head of a content, and the slot to overwrite next.
func parseHead(text []byte) (head audit.Head, older int) {
	for i := 0; i*slot < len(text); i++ {
		var s headSlot
		if json.Unmarshal(bytes.TrimSpace(text[i*slot:min(len(text), (i+1)*slot)]), &s) != nil || s.Sum != s.sum() {
			continue
		}
		if s.Seq > head.Seq {
			head, older = audit.Head{Chain: s.Chain, Seq: s.Seq, Hash: s.Hash}, 1-i
		}
	}
	return head, older
}

// current reads the open file. Where it has what this process saw last, its checksums hold.
func (h *headFile) current() (*headText, error) {
	text, err := readHead(h.file)
	if err != nil {
		return nil, err
	}
	if h.seen.text == nil || !bytes.Equal(text, h.seen.text) {
		head, older := parseHead(text)
		h.seen = headText{text, head, older}
	}
	return &h.seen, nil
}

// move writes a head unless the file has a newer one of the same chain. A head that an operator
// accepted is written in any case, to both slots.
func (h *headFile) move(to audit.Head, accepted bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		h.file = f
	}
	unlock, err := lockHead(h.file)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := h.current()
	if err != nil || !accepted && now.head.Chain == to.Chain && now.head.Seq >= to.Seq {
		return err
	}
	text, _ := headSlot{Chain: to.Chain, Seq: to.Seq, Hash: to.Hash}.encode()
	text = append(append(text, bytes.Repeat([]byte(" "), max(slot-1-len(text), 0))...), '\n')
	next, older := append(now.text, make([]byte, max((now.older+1)*slot-len(now.text), 0))...), now.older
	h.seen = headText{} // unknown after an error
	if _, err := h.file.WriteAt(text, int64(older*slot)); err != nil {
		return err
	}
	if accepted {
		if _, err := h.file.WriteAt(text, int64((1-older)*slot)); err != nil {
			return err
		}
	} else {
		copy(next[older*slot:], text)
		h.seen = headText{next, to, 1 - older}
	}
	h.dirty = true
	return nil
}

// sync makes the head durable. Rows do not wait for it.
func (h *headFile) sync() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dirty || h.file == nil {
		return nil
	}
	h.dirty = false
	return h.file.Sync()
}

func (h *headFile) close() {
	_ = h.sync()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		_ = h.file.Close()
		h.file = nil
	}
}

// CheckHead compares the end of the chain with the head file. It returns a *database.DamagedError
// if they disagree, or the error of reading one of them.
func CheckHead(ctx context.Context, db *database.DB) error {
	return db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := checkHead(tx, db.Path(), &headFile{path: database.HeadPath(db.Path())}, new(Names))
		return err
	})
}

// checkHead returns the end of the chain if the row that the head file names is in the chain.
func checkHead(tx *database.Tx, path string, h *headFile, names *Names) (end audit.Head, err error) {
	// The head file is read first: rows that are committed meanwhile come after it.
	stored, _, err := h.read()
	if err != nil {
		return end, fmt.Errorf("audit head: %w", err)
	}
	if _, err := tx.Get([]any{&end.Chain}, "SELECT id FROM audit_chain"); err != nil {
		return end, err
	}
	now, err := headOf(tx, end.Chain, names)
	if err != nil {
		return end, err
	}
	end = *now
	damaged := func(format string, args ...any) error {
		return &database.DamagedError{Path: path, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case stored.Seq == 0:
		return end, nil
	case stored.Chain != end.Chain:
		return end, damaged("it holds another chain than the one that was written here last, which had %d rows", stored.Seq)
	case stored.Seq > end.Seq:
		return end, damaged("its rows end at %d, and row %d was written", end.Seq, stored.Seq)
	}
	hash, err := hashAt(tx, stored.Seq, names)
	if err == nil && hash != stored.Hash {
		err = errors.New("it has another hash")
	}
	if err != nil {
		var first int64
		if _, e := tx.Get([]any{&first}, "SELECT coalesce(min(seq), 0) FROM audit_rows"); e == nil && first > stored.Seq {
			return end, nil // the row was pruned
		}
		return end, damaged("row %d is not the one that was written: %v", stored.Seq, err)
	}
	return end, nil
}

// guardHead compares the head file with the chain now, moves it if it is older, and repeats the
// comparison in the background.
func (r *Recorder) guardHead(ctx context.Context) error {
	var end audit.Head
	err := r.db.Snapshot(ctx, func(tx *database.Tx) (err error) {
		end, err = checkHead(tx, r.db.Path(), r.head, &r.names)
		return err
	})
	if err == nil && end.Seq > 0 {
		err = r.head.move(end, false)
	}
	if err != nil {
		return err
	}
	go func() {
		<-r.db.Ended()
		r.head.close()
	}()
	r.db.Guard(func(tx *database.Tx) error {
		_ = r.head.sync() // a lost head is only older than the chain
		_, err := checkHead(tx, r.db.Path(), r.head, &r.names)
		return err
	})
	return nil
}

// Accept makes the end of the chain the head, regardless of the head file, after an operator
// replaced the database by a backup. It adds a row that names the operator.
func Accept(ctx context.Context, db *database.DB, by string, now time.Time) (before, after audit.Head, err error) {
	h := &headFile{path: database.HeadPath(db.Path())}
	if before, _, err = h.read(); err != nil {
		return before, after, err
	}
	r := &Recorder{db: db, head: h}
	if _, err := db.Get(ctx, []any{&r.chain}, "SELECT id FROM audit_chain"); err != nil {
		return before, after, err
	}
	row := &stopgate.Record{
		Version: stopgate.RecordVersion, Time: now.UTC(), Kind: stopgate.RecordEvent, Event: stopgate.AuditReconciled,
		Cause: fmt.Sprintf("%s accepted the records as they are; row %d was written last", by, before.Seq),
	}
	e, err := r.Prepare(row)
	if err != nil {
		return before, after, err
	}
	if err := db.Change(ctx, func(tx *database.Tx) error { return r.Write(tx, e) }); err != nil {
		return before, after, err
	}
	if after, err = Head(ctx, db); err != nil {
		return before, after, err
	}
	if err = h.move(after, true); err == nil {
		err = h.sync()
	}
	return before, after, err
}
