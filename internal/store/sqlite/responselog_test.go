package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// Proves W47, H17: entries of the response log survive a restart, belong to one
// principal, and are pruned together with arguments.
func TestResponseLog(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "state.db")
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutLogEntries(ctx, "p", map[string][]byte{"a": []byte("1"), "b": []byte("2")}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutLogEntries(ctx, "p", map[string][]byte{"a": []byte("3")}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	find := func(p, key string) string {
		t.Helper()
		text, err := s.LogEntry(ctx, "p", key)
		if p != "p" {
			text, err = s.LogEntry(ctx, "other", key)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if find("p", "a") != "3" || find("p", "b") != "2" || find("p", "c") != "" || find("other", "a") != "" {
		t.Error("the entries read are not the entries written")
	}
	now := time.Now()
	if _, err := s.Retain(ctx, audit.Retention{Rows: now.Add(-time.Hour), Arguments: now.Add(-time.Minute)}, now); err != nil || find("p", "a") != "3" {
		t.Error("entries younger than the limit were pruned", err)
	}
	p, err := s.Retain(ctx, audit.Retention{Rows: now.Add(-time.Hour), Arguments: now.Add(time.Minute)}, now)
	if err != nil || p.Ledger != 2 || find("p", "a") != "" {
		t.Errorf("old entries were not pruned: %+v %v", p, err)
	}
}
