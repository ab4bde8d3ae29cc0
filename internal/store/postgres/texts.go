package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	records "github.com/stopgate/stopgate/internal/record/postgres"
)

var _ flow.Store = (*Store)(nil)

// maxTexts limits the segments of one conversation, in bytes.
const maxTexts = 64 << 20

// textLog is a row of texts.
type textLog struct {
	number, bytes, position int64
	kept                    int64
	lost                    bool
	key, meaning            []byte
}

const selectTexts = "SELECT number, position, bytes, kept, lost, key, meaning FROM texts WHERE id = $1"

func readTextLog(ctx context.Context, tx pgx.Tx, query string, id []byte) (log textLog, found bool, err error) {
	err = tx.QueryRow(ctx, query, id).Scan(&log.number, &log.position, &log.bytes, &log.kept, &log.lost, &log.key, &log.meaning)
	if errors.Is(err, pgx.ErrNoRows) {
		return textLog{}, false, nil
	}
	return log, err == nil, err
}

func textsOf(c flow.Conversation) []byte {
	return idOf(ofTexts, string(c.Principal), string(c.Session), c.ID)
}

// LoadTexts implements [flow.Store].
func (s *Store) LoadTexts(ctx context.Context, c flow.Conversation, after uint64) (log flow.Log, err error) {
	err = s.db.Read(ctx, func(tx pgx.Tx) error {
		log = flow.Log{}
		row, found, err := readTextLog(ctx, tx, selectTexts, textsOf(c))
		if err != nil || !found {
			return err
		}
		log = flow.Log{Key: row.key, Meaning: string(row.meaning), Position: uint64(row.position), Lost: row.lost, Kept: row.kept}
		if log.Position <= after {
			return nil
		}
		rows, err := tx.Query(ctx, "SELECT segment FROM text_segments WHERE texts = $1 AND seq > $2 ORDER BY seq", row.number, int64(after))
		if err != nil {
			return err
		}
		log.Segments, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
		return err
	})
	if err != nil {
		return flow.Log{}, fmt.Errorf("load texts: %w", err)
	}
	return log, nil
}

// AppendTexts implements [flow.Store].
func (s *Store) AppendTexts(ctx context.Context, c flow.Conversation, change flow.Change) error {
	err := s.db.Change(ctx, func(tx pgx.Tx) error { return s.appendTexts(ctx, tx, c, change) })
	if err != nil && !errors.Is(err, flow.ErrMoved) && !errors.Is(err, flow.ErrFull) {
		return fmt.Errorf("store texts: %w", err)
	}
	return err
}

func (s *Store) appendTexts(ctx context.Context, tx pgx.Tx, c flow.Conversation, change flow.Change) error {
	id, at := textsOf(c), time.Now()
	now := at.UnixMilli()
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 1))", id); err != nil {
		return err
	}
	row, found, err := readTextLog(ctx, tx, selectTexts+" FOR UPDATE", id)
	if err != nil {
		return err
	}
	marks := change.Lost && len(change.Segments) == 0 && !change.Replace
	switch {
	case !found && change.After != 0 && !change.Replace && !marks:
		return flow.ErrMoved
	case found && !change.Replace && !marks && (!bytes.Equal(row.key, change.Key) || uint64(row.position) != change.After):
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
		if _, err := tx.Exec(ctx, "WITH gone AS (DELETE FROM text_segments WHERE texts = $1) DELETE FROM texts WHERE number = $1", row.number); err != nil {
			return err
		}
		found = false
	}
	if !found {
		row = textLog{}
		if err := tx.QueryRow(ctx, "INSERT INTO texts(id, session, at, position, bytes, lost, key, meaning) VALUES($1, $2, $3, 0, 0, false, $4, $5) RETURNING number",
			id, idOf(ofSession, string(c.Principal), string(c.Session)), now, append([]byte{}, change.Key...), []byte(change.Meaning)).Scan(&row.number); err != nil {
			return err
		}
	}
	if len(change.Segments) > 0 {
		seqs := make([]int64, len(change.Segments))
		for i := range seqs {
			seqs[i] = row.position + int64(i) + 1
		}
		if _, err := tx.Exec(ctx, "INSERT INTO text_segments(texts, seq, segment) SELECT $1, seq, segment FROM unnest($2::bigint[], $3::bytea[]) AS n(seq, segment)",
			row.number, seqs, change.Segments); err != nil {
			return err
		}
	}
	for _, text := range change.Texts {
		row.kept += int64(len(text))
	}
	if err := s.records.KeepTexts(ctx, tx, kept.LogID(change.Key), uint64(row.position)+1, change.Texts, at); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE texts SET at = $1, position = $2, bytes = $3, kept = $4, lost = $5 WHERE number = $6",
		now, row.position+int64(len(change.Segments)), size, row.kept, row.lost || change.Lost, row.number)
	return err
}

// KeptTexts implements [flow.Store].
func (s *Store) KeptTexts(ctx context.Context, log string) ([]flow.KeptText, error) {
	return records.TextsOf(ctx, s.db, log)
}

// pruneTexts removes the texts of sessions that are gone, if nothing was added since before.
func (s *Store) pruneTexts(ctx context.Context, before time.Time) (int64, error) {
	n, err := s.inSteps(ctx, "WITH gone AS (DELETE FROM texts WHERE number IN ("+
		"SELECT number FROM texts t WHERE t.at < $1 AND NOT EXISTS (SELECT FROM sessions s WHERE s.id = t.session) LIMIT $2) RETURNING number), "+
		"segments AS (DELETE FROM text_segments WHERE texts IN (SELECT number FROM gone)) SELECT FROM gone", before.UnixMilli(), fewStep)
	if err != nil {
		return n, fmt.Errorf("prune texts: %w", err)
	}
	return n, nil
}
