package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	keep "github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	"github.com/stopgate/stopgate/session"
)

// broken is a store with a row in every table, and a second connection to its file.
type broken struct {
	*sqlite.Store
	file *sql.DB
}

var (
	brokenAt  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	brokenOld = session.Owner{Principal: "local", Session: "old"}
)

func newBroken(t *testing.T) broken {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	s := openWith(t, path, sqlite.Options{Records: audit.Options{Arguments: keep.KeepFull}})
	file, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	b := broken{s, file}
	grant := approve.Grant{ID: "g", Principal: "local", Tool: "deploy", Expires: brokenAt.Add(-time.Minute)}
	entry := approvals.Entry("a")
	entry.Expires = brokenAt.Add(-time.Minute)
	_, err = s.AddEntry(ctx, entry, func(approve.Entry) bool { return false })
	for _, err := range []error{
		b.update(brokenOld, "P1"), err, s.AddGrant(ctx, grant), s.Attend(ctx, brokenAt), s.SetLockdown(ctx, gate.Lockdown{Since: brokenAt}),
		s.PutLogEntries(ctx, "local", map[string][]byte{"k": []byte("old")}), s.SaveObjection(ctx, [32]byte{1}, 1, "no", brokenAt.Add(-48*time.Hour)),
		s.AppendEntries(ctx, "talk", conversation.Entry{Kind: conversation.User, Text: "x", At: brokenAt.Add(-time.Hour)}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// update writes a decision: a release that counts, and its row with arguments.
func (b broken) update(o session.Owner, id string) error {
	count := session.Key{Scope: session.OfPrincipal, Space: session.SpaceLimit, Name: "l"}
	fact := session.Fact{Kind: session.Released, At: brokenAt.Add(-time.Hour).UnixMilli(), Proposal: stopgate.ProposalID(id), Tool: "deploy",
		CallID: stopgate.CallID(id), Marks: []session.Mark{{Key: count, Counts: true}}}
	mode := stopgate.Unattended
	row := &stopgate.Record{Version: 1, Time: brokenAt.Add(-time.Hour), Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(id), Session: o.Session,
		Tool: "deploy", Status: stopgate.StatusAllowed, Mode: &mode, Code: stopgate.CodeRuleMatched, ArgsHash: fmt.Sprintf("%x", id), Args: fmt.Appendf(nil, `{"id":%q}`, id)}
	return b.Update(ctx, o, fact.Keys(), func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{fact}, Rows: []*stopgate.Record{row}}, nil
	})
}

func (b broken) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := b.file.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// strings returns the first column of the rows of a query.
func (b broken) strings(t *testing.T, query string) (out []string) {
	t.Helper()
	rows, err := b.file.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

const brokenTables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'fired' ORDER BY name"

// dump returns the content of the file.
func (b broken) dump(t *testing.T) string {
	t.Helper()
	var all []string
	for _, table := range b.strings(t, brokenTables) {
		columns := b.strings(t, "SELECT 'quote(' || name || ')' FROM pragma_table_info('"+table+"')")
		lines := b.strings(t, "SELECT concat_ws(' ', '"+table+"', "+strings.Join(columns, ", ")+") FROM "+table)
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return strings.Join(all, "\n")
}

// Proves I19, I22, FM2: if any statement of an operation fails, the caller gets an error, the whole
// operation is rolled back, and a retry succeeds.
func TestFailedStatementRollsBack(t *testing.T) {
	never := func(approve.Entry) bool { return false }
	for name, write := range map[string]func(b broken) error{
		"a decision in a new session": func(b broken) error { return b.update(session.Owner{Principal: "other", Session: "new"}, "P2") },
		"a decision in a session":     func(b broken) error { return b.update(brokenOld, "P2") },
		"a row": func(b broken) error {
			return b.Recorder().Record(ctx, &stopgate.Record{Version: 1, Time: brokenAt, Kind: stopgate.RecordEvent, Event: stopgate.AuditReload})
		},
		"a question": func(b broken) error { _, err := b.AddEntry(ctx, approvals.Entry("b"), never); return err },
		"an answer": func(b broken) error {
			_, err := b.ChangeEntry(ctx, "a", func(e approve.Entry) (approve.Entry, error) { e.State = approve.Declined; return e, nil })
			return err
		},
		"a grant": func(b broken) error { return b.AddGrant(ctx, approve.Grant{ID: "h", Expires: brokenAt}) },
		"a use of a grant": func(b broken) error {
			_, err := b.ChangeGrant(ctx, "g", func(g approve.Grant) (approve.Grant, error) { g.Uses++; return g, nil })
			return err
		},
		"attendance": func(b broken) error { return b.Attend(ctx, brokenAt.Add(time.Hour)) },
		"a lockdown": func(b broken) error {
			return b.SetLockdown(ctx, gate.Lockdown{Since: brokenAt.Add(time.Hour), By: "ann"})
		},
		"the end of a lockdown": func(b broken) error { return b.SetLockdown(ctx, gate.Lockdown{}) },
		"the response log": func(b broken) error {
			return b.PutLogEntries(ctx, "local", map[string][]byte{"k": []byte("new"), "l": {1}})
		},
		"an objection": func(b broken) error { return b.SaveObjection(ctx, [32]byte{2}, 1, "no", brokenAt) },
		"what is said": func(b broken) error {
			return b.AppendEntries(ctx, "talk", conversation.Entry{Kind: conversation.User, Text: "y", At: brokenAt})
		},
		"the first that is said": func(b broken) error {
			return b.AppendEntries(ctx, "new", conversation.Entry{Kind: conversation.User, Text: "y", At: brokenAt})
		},
		"what is over: questions, grants": func(b broken) error { _, err := b.Prune(ctx, brokenAt); return err },
		"prune": func(b broken) error {
			_, err := b.Retain(ctx, audit.Retention{Rows: brokenAt, Arguments: brokenAt.Add(-time.Second)}, time.Now().Add(time.Hour))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := newBroken(t)
			tried.exec(t, "CREATE TABLE fired(what TEXT PRIMARY KEY)")
			for _, table := range tried.strings(t, brokenTables) {
				for _, kind := range []string{"INSERT ON", "UPDATE ON", "DELETE ON"} {
					what := kind + " " + table
					tried.exec(t, "CREATE TRIGGER \""+what+"\" BEFORE "+what+" BEGIN INSERT OR IGNORE INTO fired VALUES('"+what+"'); END")
				}
			}
			if err := write(tried); err != nil {
				t.Fatal(err)
			}
			fired := tried.strings(t, "SELECT what FROM fired ORDER BY what")
			if len(fired) == 0 {
				t.Fatal("nothing is written")
			}
			b := newBroken(t)
			for _, what := range fired {
				b.exec(t, "CREATE TRIGGER broken BEFORE "+what+" BEGIN SELECT RAISE(ABORT, 'it is broken'); END")
				before := b.dump(t)
				if err := write(b); err == nil || !strings.Contains(err.Error(), "it is broken") {
					t.Fatalf("%s fails: %v", what, err)
				}
				if after := b.dump(t); after != before && name != "prune" { // pruning has several transactions
					t.Fatalf("%s fails, and this is kept:\n%s\nof this:\n%s", what, after, before)
				}
				b.exec(t, "DROP TRIGGER broken")
				if name == "prune" {
					b = newBroken(t)
				}
			}
			if err := write(b); err != nil {
				t.Errorf("behind the failures: %v", err)
			}
		})
	}
}

// Proves FM2, I19: unreadable data is an error, never an empty result.
func TestUnreadableRowsAreErrors(t *testing.T) {
	ids := 1
	for name, c := range map[string]struct {
		tables []string
		read   func(b broken) error
	}{
		"cells of a session": {[]string{"sessions", "cells", "facts"}, func(b broken) error {
			_, err := b.Load(ctx, brokenOld, []session.Key{session.CallKey("P1")})
			return err
		}},
		"a decision": {[]string{"sessions", "cells", "facts", "audit_rows", "audit_calls"}, func(b broken) error {
			ids++
			return b.update(brokenOld, fmt.Sprint("P", ids))
		}},
		"facts":      {[]string{"sessions", "facts"}, func(b broken) error { _, err := b.Facts(ctx, brokenOld, 0, 1); return err }},
		"sessions":   {[]string{"sessions"}, func(b broken) error { _, err := b.Sessions(ctx, "", 0); return err }},
		"principals": {[]string{"sessions"}, func(b broken) error { _, err := b.Principals(ctx, "old", 1); return err }},
		"a question": {[]string{"approvals"}, func(b broken) error { _, err := b.Entry(ctx, "a"); return err }},
		"questions":  {[]string{"approvals"}, func(b broken) error { _, err := b.Entries(ctx, approve.Filter{}); return err }},
		"a question that is asked": {[]string{"approvals"}, func(b broken) error {
			_, err := b.AddEntry(ctx, approvals.Entry("a"), func(approve.Entry) bool { return true })
			return err
		}},
		"prune": {[]string{"sessions", "approvals", "grants", "ledger", "conversations", "audit_rows", "audit_calls"}, func(b broken) error {
			_, err := b.Retain(ctx, audit.Retention{Rows: brokenAt, Arguments: brokenAt.Add(-time.Second)}, time.Now().Add(time.Hour))
			return err
		}},
		"grants":                       {[]string{"grants"}, func(b broken) error { _, err := b.Grants(ctx, approve.GrantFilter{}); return err }},
		"attendance":                   {[]string{"attendance"}, func(b broken) error { _, err := b.Attended(ctx); return err }},
		"a lockdown":                   {[]string{"lockdown"}, func(b broken) error { _, err := b.Lockdown(ctx); return err }},
		"an entry of the response log": {[]string{"ledger"}, func(b broken) error { _, err := b.LogEntry(ctx, "local", "k"); return err }},
		"objections":                   {[]string{"objections"}, func(b broken) error { _, _, _, _, err := b.Objection(ctx, [32]byte{1}); return err }},
		"a talk":                       {[]string{"conversations", "conversation_entries"}, func(b broken) error { _, err := b.ConversationEntries(ctx, "talk"); return err }},
		"talks":                        {[]string{"conversations"}, func(b broken) error { _, err := b.Conversations(ctx, "", 1); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBroken(t)
			if err := c.read(b); err != nil {
				t.Fatal(err)
			}
			for _, table := range c.tables {
				b.exec(t, "ALTER TABLE "+table+" RENAME TO gone")
				if c.read(b) == nil {
					t.Errorf("without %s there is no error", table)
				}
				b.exec(t, "ALTER TABLE gone RENAME TO "+table)
			}
			if err := c.read(b); err != nil {
				t.Errorf("behind the failures: %v", err)
			}
		})
	}
	for table, read := range map[string]func(b broken) error{
		"approvals":            func(b broken) error { _, err := b.Entries(ctx, approve.Filter{}); return err },
		"grants":               func(b broken) error { _, err := b.Grants(ctx, approve.GrantFilter{}); return err },
		"conversation_entries": func(b broken) error { _, err := b.ConversationEntries(ctx, "talk"); return err },
		"conversations":        func(b broken) error { _, err := b.Conversations(ctx, "", 1); return err },
	} {
		b := newBroken(t)
		b.exec(t, "UPDATE "+table+" SET body = ?", []byte(`{"id":`))
		if read(b) == nil {
			t.Errorf("a torn body among %s is no error", table)
		}
	}
	b := newBroken(t)
	b.exec(t, "UPDATE facts SET stored = x'7b'")
	if _, err := b.Facts(ctx, brokenOld, 0, 1); err == nil {
		t.Error("a torn fact is no error")
	}
	b.exec(t, "UPDATE cells SET stored = x'7b'")
	count := session.Key{Scope: session.OfPrincipal, Space: session.SpaceLimit, Name: "l"}
	if _, err := b.Load(ctx, brokenOld, []session.Key{count}); err == nil {
		t.Error("a torn cell is no error")
	}
}
