package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	keep "github.com/stopgate/stopgate/audit"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// asked stores a question about secrets and answers it.
func asked(t *testing.T, s *sqlite.Store, id string, state approve.State) {
	t.Helper()
	e := approvals.Entry(id)
	e.Args, e.Segment = `{"path":"plain","key":"AKIAABCDEFGHIJKLMNOP"}`, &stopgate.Segment{Index: 0, Of: 2, Text: "run plain"}
	if _, err := s.AddEntry(t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}
	got, err := s.ChangeEntry(t.Context(), id, func(e approve.Entry) (approve.Entry, error) {
		e.State, e.Edit = state, `{"path":"plainer","key":"AKIAABCDEFGHIJKLMNOP"}`
		return e, nil
	})
	if err != nil || !strings.Contains(got.Args, "AKIA") || !strings.Contains(got.Edit, "AKIA") {
		t.Fatal("who answers does not see what was asked", got, err)
	}
}

// Proves H17, S13: a question that is over contains only the arguments that the audit log may keep;
// one that may still be answered or used contains all of them.
func TestArgumentsOfFinishedQuestions(t *testing.T) {
	redactor, err := keep.NewRedactor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		o             audit.Options
		plain, secret bool
	}{
		{"none", audit.Options{}, false, false},
		{"redacted", audit.Options{Arguments: keep.KeepRedacted, Redactor: redactor}, true, false},
		{"full", audit.Options{Arguments: keep.KeepFull}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openWith(t, filepath.Join(t.TempDir(), "s.db"), sqlite.Options{Records: c.o})
			for state, over := range map[approve.State]bool{
				approve.Used: true, approve.Declined: true, approve.Withdrawn: true, approve.Approved: false, approve.Edited: false, approve.Waiting: false,
			} {
				asked(t, s, string(state), state)
				e, err := s.Entry(t.Context(), string(state))
				if err != nil {
					t.Fatal(err)
				}
				plain, secret := c.plain || !over, c.secret || !over
				if strings.Contains(e.Args, "plain") != plain || strings.Contains(e.Edit, "plainer") != plain ||
					strings.Contains(e.Args+e.Edit, "AKIA") != secret || (e.Leaves != nil) != secret || (e.Segment.Text != "") != secret {
					t.Errorf("%s: %q %q %v %v", state, e.Args, e.Edit, e.Leaves, e.Segment)
				}
			}
		})
	}
}

// Proves S13: the arguments of questions are pruned with the other arguments.
func TestArgumentsOfQuestionsArePruned(t *testing.T) {
	s := openWith(t, filepath.Join(t.TempDir(), "s.db"), sqlite.Options{Records: audit.Options{Arguments: keep.KeepFull}})
	for _, state := range []approve.State{approve.Used, approve.Waiting} {
		for i := range 60 {
			asked(t, s, string(state)+strings.Repeat("x", i), state)
		}
	}
	e, err := s.Entry(t.Context(), "used")
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []time.Duration{-time.Minute, time.Minute} {
		at := e.Expires.Add(before)
		if _, err := s.Retain(t.Context(), audit.Retention{Arguments: at}, at); err != nil {
			t.Fatal(err)
		}
		list, err := s.Entries(t.Context(), approve.Filter{})
		if err != nil || len(list) != 120 {
			t.Fatal(len(list), err)
		}
		for _, e := range list {
			if kept := e.Args != "" || e.Edit != "" || e.Leaves != nil || e.Segment.Text != ""; kept != (before < 0) {
				t.Fatalf("%s before it expires: %+v", -before, e)
			}
		}
	}
}
