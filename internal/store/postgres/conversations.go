package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/agent/conversation"
)

var _ conversation.Store = (*Store)(nil)

// AppendEntries implements [conversation.Store].
func (s *Store) AppendEntries(ctx context.Context, id string, entries ...conversation.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	list := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if list[i], err = json.Marshal(e); err != nil {
			return fmt.Errorf("store the conversation: %w", err)
		}
	}
	key := idOf(ofConversation, id)
	err := s.db.Change(ctx, func(tx pgx.Tx) error {
		// The row is made first, so that there is one to lock.
		if _, err := tx.Exec(ctx, "INSERT INTO conversations(id, dir, changed, body) VALUES($1, '', 0, '') ON CONFLICT(id) DO NOTHING", key); err != nil {
			return err
		}
		var number int64
		var body []byte
		if err := tx.QueryRow(ctx, "SELECT number, body FROM conversations WHERE id = $1 FOR UPDATE", key).Scan(&number, &body); err != nil {
			return err
		}
		info := conversation.Info{ID: id}
		if len(body) > 0 {
			if err := json.Unmarshal(body, &info); err != nil {
				return err
			}
		}
		seqs := make([]int32, len(list))
		for i := range list {
			seqs[i] = int32(info.Entries + i)
		}
		info = info.Describe(entries...)
		body, err := json.Marshal(info)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE conversations SET dir = $1, changed = $2, body = $3 WHERE number = $4", []byte(info.Dir), info.Changed.UnixMicro(), body, number); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO conversation_entries(conversation, seq, body) SELECT $1, seq, body FROM unnest($2::integer[], $3::bytea[]) AS n(seq, body)", number, seqs, list)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the conversation: %w", err)
	}
	return nil
}

// ConversationEntries implements [conversation.Store].
func (s *Store) ConversationEntries(ctx context.Context, id string) (entries []conversation.Entry, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		entries = nil
		return bodies(rows, func(e conversation.Entry) bool {
			entries = append(entries, e)
			return true
		})
	}, "SELECT e.body FROM conversation_entries e JOIN conversations c ON c.number = e.conversation WHERE c.id = $1 ORDER BY e.seq", idOf(ofConversation, id))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the conversation: %w", err)
	case len(entries) == 0:
		return nil, conversation.ErrUnknown
	}
	return entries, nil
}

// Conversations implements [conversation.Store].
func (s *Store) Conversations(ctx context.Context, dir string, limit int) (infos []conversation.Info, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		infos = nil
		return bodies(rows, func(i conversation.Info) bool {
			infos = append(infos, i)
			return limit <= 0 || len(infos) < limit
		})
	}, "SELECT body FROM conversations WHERE $1::bytea = '' OR dir = $1 ORDER BY changed DESC, number DESC", []byte(dir))
	if err != nil {
		return nil, fmt.Errorf("list the conversations: %w", err)
	}
	return infos, nil
}

// pruneConversations removes conversations without an entry since before.
func (s *Store) pruneConversations(ctx context.Context, before time.Time) (int64, error) {
	n, err := s.inSteps(ctx, "WITH old AS (DELETE FROM conversations WHERE number IN (SELECT number FROM conversations WHERE changed < $1 LIMIT $2) RETURNING number), "+
		"entries AS (DELETE FROM conversation_entries WHERE conversation IN (SELECT number FROM old)) SELECT FROM old", before.UnixMicro(), fewStep)
	if err != nil {
		return n, fmt.Errorf("prune conversations: %w", err)
	}
	return n, nil
}
