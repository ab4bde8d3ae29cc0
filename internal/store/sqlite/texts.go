package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// textTables are the tables of the texts of conversations: keyed hashes, no text. Times are Unix
// milliseconds. Texts that a policy keeps for replay are with the records.
var textTables = database.Component{Name: "texts", Migrations: []string{`
CREATE TABLE texts(
	id INTEGER PRIMARY KEY,
	principal TEXT NOT NULL,
	session TEXT NOT NULL,
	conversation TEXT NOT NULL,
	at INTEGER NOT NULL,
	position INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	lost INTEGER NOT NULL,
	key BLOB NOT NULL,
	meaning TEXT NOT NULL,
	UNIQUE(principal, session, conversation)
) STRICT;

CREATE TABLE text_segments(
	texts INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	segment BLOB NOT NULL,
	PRIMARY KEY(texts, seq)
) STRICT;
`, `
ALTER TABLE texts ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
`}}

var _ flow.Store = (*Store)(nil)

// maxTexts limits the segments of one conversation, in bytes.
const maxTexts = 64 << 20

// textLog is a row of texts.
type textLog struct {
	id, bytes int64
	kept      int64
	position  uint64
	lost      bool
	key       []byte
	meaning   string
}

const selectLog = "SELECT id, position, bytes, kept, lost, key, meaning FROM texts WHERE principal = ? AND session = ? AND conversation = ?"

// getTextLog reads the row of a conversation with get, of a transaction or of the database.
func getTextLog(c flow.Conversation, get func(dest []any, query string, args ...any) (bool, error)) (log textLog, found bool, err error) {
	found, err = get([]any{&log.id, &log.position, &log.bytes, &log.kept, &log.lost, &log.key, &log.meaning},
		selectLog, string(c.Principal), string(c.Session), c.ID)
	return log, found, err
}

// LoadTexts implements [flow.Store].
func (s *Store) LoadTexts(ctx context.Context, c flow.Conversation, after uint64) (log flow.Log, err error) {
	// Usually there are no segments to read, and one statement needs no transaction.
	row, found, err := getTextLog(c, func(dest []any, query string, args ...any) (bool, error) { return s.db.Get(ctx, dest, query, args...) })
	if log = row.log(); err == nil && found && row.position > after {
		log, err = s.loadSegments(ctx, c, after)
	}
	if err != nil {
		return flow.Log{}, fmt.Errorf("load texts: %w", err)
	}
	return log, nil
}

// log returns the log without segments, the zero Log for the zero row.
func (l *textLog) log() flow.Log {
	return flow.Log{Key: bytes.Clone(l.key), Meaning: l.meaning, Position: l.position, Lost: l.lost, Kept: l.kept}
}

func (s *Store) loadSegments(ctx context.Context, c flow.Conversation, after uint64) (log flow.Log, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		row, found, err := getTextLog(c, tx.Get)
		if log = row.log(); err != nil || !found {
			return err
		}
		rows, err := tx.Query("SELECT segment FROM text_segments WHERE texts = ? AND seq > ? ORDER BY seq", row.id, after)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var segment []byte
			if err := rows.Scan(&segment); err != nil {
				return err
			}
			log.Segments = append(log.Segments, segment)
		}
		return rows.Err()
	})
	return log, err
}

// AppendTexts implements [flow.Store].
func (s *Store) AppendTexts(ctx context.Context, c flow.Conversation, change flow.Change) error {
	return s.db.Change(ctx, func(tx *database.Tx) error { return s.appendTexts(tx, c, &change) })
}

// appendTexts makes a change within a transaction. It writes nothing if it returns an error of [flow.Store].
func (s *Store) appendTexts(tx *database.Tx, c flow.Conversation, change *flow.Change) error {
	err := s.appendLog(tx, c, change, time.Now())
	if err != nil && !errors.Is(err, flow.ErrMoved) && !errors.Is(err, flow.ErrFull) {
		return fmt.Errorf("store texts: %w", err)
	}
	return err
}

const (
	// appendTo appends to a log with a key and a position, if it has room.
	appendTo = "UPDATE texts SET at = ?, position = position + ?, bytes = bytes + ?, kept = kept + ?, lost = max(lost, ?) " +
		"WHERE principal = ? AND session = ? AND conversation = ? AND key = ? AND position = ? AND bytes + ? <= ? RETURNING id"
	insertLog = "INSERT INTO texts(principal, session, conversation, at, position, bytes, kept, lost, key, meaning) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	markLog   = "UPDATE texts SET at = ?, lost = max(lost, ?) WHERE id = ?"
)

var insertSegment = database.NewInsert("INSERT INTO text_segments(texts, seq, segment)", 3, "")

func (s *Store) appendLog(tx *database.Tx, c flow.Conversation, change *flow.Change, at time.Time) error {
	var size, text int64
	for _, segment := range change.Segments {
		size += int64(len(segment))
	}
	for _, t := range change.Texts {
		text += int64(len(t))
	}
	now, added := at.UnixMilli(), len(change.Segments)
	if !change.Replace {
		var id int64
		found, err := tx.Get([]any{&id}, appendTo, now, added, size, text, change.Lost,
			string(c.Principal), string(c.Session), c.ID, change.Key, int64(change.After), size, maxTexts)
		if err != nil {
			return err
		}
		if found {
			tx.MarkWritten()
			return s.insertSegments(tx, id, change.After, change, at)
		}
	}
	row, found, err := getTextLog(c, tx.Get)
	if err != nil {
		return err
	}
	switch {
	case size > maxTexts:
		return flow.ErrFull
	case change.Replace:
	case change.Lost && added == 0: // applies to any log
		if found {
			_, err := tx.Exec(markLog, now, change.Lost, row.id)
			return err
		}
	case found && bytes.Equal(row.key, change.Key) && row.position == change.After:
		return flow.ErrFull
	case found || change.After != 0:
		return flow.ErrMoved
	}
	if found {
		if err := removeLog(tx, row.id); err != nil {
			return err
		}
	}
	done, err := tx.Exec(insertLog, string(c.Principal), string(c.Session), c.ID, now, added, size, text, change.Lost, change.Key, change.Meaning)
	if err != nil {
		return err
	}
	id, err := done.LastInsertId()
	if err != nil {
		return err
	}
	return s.insertSegments(tx, id, 0, change, at)
}

// segmentsKey is the key of the segments of a transaction that are not written yet: arguments of insertSegment.
type segmentsKey struct{}

// insertSegments adds the segments and kept texts of a change after a position. The segments of all changes of a
// transaction are written together.
func (s *Store) insertSegments(tx *database.Tx, log int64, after uint64, change *flow.Change, at time.Time) error {
	rows, ok := tx.Value(segmentsKey{}).(*[]any)
	if !ok {
		rows = new([]any)
		tx.SetValue(segmentsKey{}, rows)
		tx.Finally(func() error { return flushSegments(tx) })
	}
	for i, segment := range change.Segments {
		*rows = append(*rows, log, int64(after)+int64(i)+1, segment)
	}
	if change.Texts == nil {
		return nil
	}
	return s.records.KeepTexts(tx, kept.LogID(change.Key), after+1, change.Texts, at)
}

// flushSegments writes the segments of a transaction, also for a change that deletes some.
func flushSegments(tx *database.Tx) error {
	rows, ok := tx.Value(segmentsKey{}).(*[]any)
	if !ok {
		return nil
	}
	err := tx.Insert(insertSegment, *rows)
	*rows = nil
	return err
}

func removeLog(tx *database.Tx, id int64) error {
	if err := flushSegments(tx); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM text_segments WHERE texts = ?", id); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM texts WHERE id = ?", id)
	return err
}

// KeptTexts implements [flow.Store].
func (s *Store) KeptTexts(ctx context.Context, log string) ([]flow.KeptText, error) {
	return audit.TextsOf(ctx, s.db, log)
}

// pruneTexts removes the texts of sessions that are gone, if nothing was added since before.
func (s *Store) pruneTexts(ctx context.Context, before time.Time) (n int64, err error) {
	const gone = "SELECT t.id FROM texts t WHERE t.at < ? AND NOT EXISTS (" +
		"SELECT 1 FROM sessions p JOIN sessions s ON s.principal = -p.id AND s.name = t.session WHERE p.principal = 0 AND p.name = t.principal)"
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		if err := flushSegments(tx); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM text_segments WHERE texts IN ("+gone+")", before.UnixMilli()); err != nil {
			return err
		}
		n, err = affected(tx, "DELETE FROM texts WHERE id IN ("+gone+")", before.UnixMilli())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune texts: %w", err)
	}
	return n, nil
}
