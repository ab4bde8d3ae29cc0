package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/store/database"
)

// conversationTables are the tables of conversations. Times are Unix microseconds.
var conversationTables = database.Component{Name: "conversations", Migrations: []string{`
CREATE TABLE conversations(
	number INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	dir TEXT NOT NULL,
	changed INTEGER NOT NULL,
	body BLOB NOT NULL
) STRICT;
CREATE INDEX conversations_changed ON conversations(changed);

CREATE TABLE conversation_entries(
	conversation INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY(conversation, seq)
) STRICT, WITHOUT ROWID;
`, `
DROP INDEX conversations_changed;
`}}

var _ conversation.Store = (*Store)(nil)

// AppendEntries implements [conversation.Store].
func (s *Store) AppendEntries(ctx context.Context, id string, entries ...conversation.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	bodies := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if bodies[i], err = json.Marshal(e); err != nil {
			return fmt.Errorf("store the conversation: %w", err)
		}
	}
	err := s.db.Change(ctx, func(tx *database.Tx) error {
		number, info, err := readInfo(tx, id)
		if err != nil {
			return err
		}
		seq := info.Entries
		info = info.Describe(entries...)
		body, err := json.Marshal(info)
		if err != nil {
			return err
		}
		if number == 0 {
			done, err := tx.Exec("INSERT INTO conversations(id, dir, changed, body) VALUES(?, ?, ?, ?)", id, info.Dir, info.Changed.UnixMicro(), body)
			if err != nil {
				return err
			}
			if number, err = done.LastInsertId(); err != nil {
				return err
			}
		} else if _, err := tx.Exec("UPDATE conversations SET dir = ?, changed = ?, body = ? WHERE number = ?", info.Dir, info.Changed.UnixMicro(), body, number); err != nil {
			return err
		}
		for i, body := range bodies {
			if _, err := tx.Exec("INSERT INTO conversation_entries(conversation, seq, body) VALUES(?, ?, ?)", number, seq+i, body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the conversation: %w", err)
	}
	return nil
}

// readInfo reads the description of a conversation; number is 0 if it does not exist.
func readInfo(tx *database.Tx, id string) (number int64, info conversation.Info, err error) {
	var body []byte
	found, err := tx.Get([]any{&number, &body}, "SELECT number, body FROM conversations WHERE id = ?", id)
	if err != nil || !found {
		return 0, conversation.Info{ID: id}, err
	}
	err = json.Unmarshal(body, &info)
	return number, info, err
}

// ConversationEntries implements [conversation.Store].
func (s *Store) ConversationEntries(ctx context.Context, id string) (entries []conversation.Entry, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		entries = nil
		return list(tx, func(e conversation.Entry) bool {
			entries = append(entries, e)
			return true
		}, "SELECT e.body FROM conversation_entries e JOIN conversations c ON c.number = e.conversation WHERE c.id = ? ORDER BY e.seq", id)
	})
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
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		infos = nil
		return list(tx, func(i conversation.Info) bool {
			infos = append(infos, i)
			return limit <= 0 || len(infos) < limit
		}, "SELECT body FROM conversations WHERE ?1 = '' OR dir = ?1 ORDER BY changed DESC, number DESC", dir)
	})
	if err != nil {
		return nil, fmt.Errorf("list the conversations: %w", err)
	}
	return infos, nil
}

// pruneConversations removes conversations without an entry since before.
func (s *Store) pruneConversations(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		if _, err := tx.Exec("DELETE FROM conversation_entries WHERE conversation IN (SELECT number FROM conversations WHERE changed < ?)", before.UnixMicro()); err != nil {
			return err
		}
		n, err = affected(tx, "DELETE FROM conversations WHERE changed < ?", before.UnixMicro())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune conversations: %w", err)
	}
	return n, nil
}
