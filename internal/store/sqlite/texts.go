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

func readTextLog(tx *database.Tx, c flow.Conversation) (log textLog, found bool, err error) {
	found, err = tx.Get([]any{&log.id, &log.position, &log.bytes, &log.kept, &log.lost, &log.key, &log.meaning},
		"SELECT id, position, bytes, kept, lost, key, meaning FROM texts WHERE principal = ? AND session = ? AND conversation = ?",
		string(c.Principal), string(c.Session), c.ID)
	return log, found, err
}

// LoadTexts implements [flow.Store].
func (s *Store) LoadTexts(ctx context.Context, c flow.Conversation, after uint64) (log flow.Log, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		log = flow.Log{}
		row, found, err := readTextLog(tx, c)
		if err != nil || !found {
			return err
		}
		log = flow.Log{Key: bytes.Clone(row.key), Meaning: row.meaning, Position: row.position, Lost: row.lost, Kept: row.kept}
		if log.Position <= after {
			return nil
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
	if err != nil {
		return flow.Log{}, fmt.Errorf("load texts: %w", err)
	}
	return log, nil
}

// AppendTexts implements [flow.Store].
func (s *Store) AppendTexts(ctx context.Context, c flow.Conversation, change flow.Change) error {
	at := time.Now()
	now := at.UnixMilli()
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		row, found, err := readTextLog(tx, c)
		if err != nil {
			return err
		}
		marks := change.Lost && len(change.Segments) == 0 && !change.Replace
		switch {
		case !found && change.After != 0 && !change.Replace && !marks:
			return flow.ErrMoved
		case found && !change.Replace && !marks && (!bytes.Equal(row.key, change.Key) || row.position != change.After):
			return flow.ErrMoved
		}
		size := int64(0)
		for _, segment := range change.Segments {
			size += int64(len(segment))
		}
		if !change.Replace {
			size += row.bytes
		}
		if size > maxTexts {
			return flow.ErrFull
		}
		if found && change.Replace {
			if _, err := tx.Exec("DELETE FROM text_segments WHERE texts = ?", row.id); err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM texts WHERE id = ?", row.id); err != nil {
				return err
			}
			found = false
		}
		if !found {
			done, err := tx.Exec("INSERT INTO texts(principal, session, conversation, at, position, bytes, lost, key, meaning) VALUES(?, ?, ?, ?, 0, 0, 0, ?, ?)",
				string(c.Principal), string(c.Session), c.ID, now, change.Key, change.Meaning)
			if err != nil {
				return err
			}
			row = textLog{}
			if row.id, err = done.LastInsertId(); err != nil {
				return err
			}
		}
		for i, segment := range change.Segments {
			if _, err := tx.Exec("INSERT INTO text_segments(texts, seq, segment) VALUES(?, ?, ?)", row.id, row.position+uint64(i)+1, segment); err != nil {
				return err
			}
		}
		for _, text := range change.Texts {
			row.kept += int64(len(text))
		}
		if err := s.records.KeepTexts(tx, kept.LogID(change.Key), row.position+1, change.Texts, at); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE texts SET at = ?, position = ?, bytes = ?, kept = ?, lost = ? WHERE id = ?",
			now, row.position+uint64(len(change.Segments)), size, row.kept, row.lost || change.Lost, row.id)
		return err
	})
	if err != nil && !errors.Is(err, flow.ErrMoved) && !errors.Is(err, flow.ErrFull) {
		return fmt.Errorf("store texts: %w", err)
	}
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
