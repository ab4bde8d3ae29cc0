package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agent/conversation"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Proves S13: conversations hold arguments and are pruned with them.
func TestConversationsArePrunedWithArguments(t *testing.T) {
	s := openStore(t)
	now := time.Now()
	for id, at := range map[string]time.Time{"old": now.AddDate(0, 0, -20), "new": now.AddDate(0, 0, -3)} {
		if err := s.AppendEntries(t.Context(), id, conversation.Entry{Kind: conversation.User, Text: id, At: at}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Retain(t.Context(), audit.Retention{Arguments: now.AddDate(0, 0, -14)}, now)
	if err != nil || p.Conversations != 1 {
		t.Errorf("%v %+v", err, p)
	}
	list, err := s.Conversations(t.Context(), "", 0)
	if err != nil || len(list) != 1 || list[0].ID != "new" {
		t.Errorf("%v %+v", err, list)
	}
	if entries, err := s.ConversationEntries(t.Context(), "old"); err == nil {
		t.Errorf("%+v", entries)
	}
}
