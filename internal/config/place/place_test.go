package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// What a URL of a store names; what is none is said as a mistake of the command line.
func TestStorePath(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for _, c := range []struct{ url, path string }{
		{"", filepath.Join(state, "stopgate", "stopgate.db")},
		{"memory", place.Memory}, {"memory:", place.Memory},
		{"sqlite:a.db", "a.db"}, {"file:a.db", "a.db"}, {"sqlite:///srv/a.db", "/srv/a.db"}, {"/srv/a.db", "/srv/a.db"},
		{`C:\a.db`, `C:\a.db`},
		{"sqlite:", "?"}, {"postgres://u:pw@host/db", "postgres://u:pw@host/db"}, {"postgres:a", "?"}, {"sqllite:a.db", "?"}, {"./a:b.db", "./a:b.db"}, {"sqlite:a:b.db", "a:b.db"},
	} {
		got, err := place.StorePath(c.url)
		if c.path == "?" {
			if !errors.As(err, new(*place.URLError)) {
				t.Errorf("%q: %q, %v", c.url, got, err)
			}
			continue
		}
		if err != nil || got != c.path {
			t.Errorf("%q: %q, %v; want %q", c.url, got, err, c.path)
		}
	}
}

// The command line wins over the tables, and the tables over what nobody said.
func TestOf(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	settings := func(text string, f place.Flags) (place.Settings, error) {
		t.Helper()
		program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte("version = 1\n" + text), Trusted: true}}, policy.Options{})
		if program == nil {
			t.Fatal(mistakes)
		}
		return place.Of(program.Settings().Tables, config.Set{}, f)
	}
	s, err := settings("", place.Flags{})
	if err != nil || filepath.Base(s.Store) != "stopgate.db" || s.AuditFile != "" || s.RowsDays != place.DefaultRowsDays {
		t.Errorf("%+v %v", s, err)
	}
	tables := "[store]\nurl = \"sqlite:t.db\"\n[audit]\nfile = \"t.jsonl\"\nrows_days = 0\n"
	s, err = settings(tables, place.Flags{})
	if err != nil || s.Store != "t.db" || s.AuditFile != "t.jsonl" || !s.Retention(time.Now()).Rows.IsZero() {
		t.Errorf("%+v %v", s, err)
	}
	f, err := settings(tables, place.Flags{Store: "memory", Audit: "f.jsonl"})
	if err != nil || f.Store != place.Memory || f.AuditFile != "f.jsonl" || f.Same(s) || !f.Same(f) {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := settings("[audit]\nrows_days = -1\n", place.Flags{}); !errors.As(err, new(config.MistakesError)) {
		t.Errorf("less than nothing: %v", err)
	}
}

// A state directory that cannot be made is an error that names the ways to another one.
func TestNoStateDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", file)
	_, err := place.File("x")
	_, opened := place.Settings{Store: filepath.Join(file, "stopgate", "s.db")}.Open(t.Context())
	for _, err := range []error{err, opened} {
		var hinted interface{ Hint() string }
		if !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "XDG_STATE_HOME") || !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%v", err)
		}
	}
}
