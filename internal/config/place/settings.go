package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/location"
)

// Default retention, where the policy file has none (S61).
const (
	DefaultRowsDays      = 90
	DefaultArgumentsDays = 14
	defaultRotateBytes   = 64 << 20
)

// Settings are the paths of the state and how long it is kept.
type Settings struct {
	Store         string // a path, the URL of a server, or Memory
	Local         string // begins the names of the files that belong to the store on this machine
	AuditFile     string // a file of JSON lines for the records, "" for the store itself
	Records       backend.Options
	RowsDays      int64
	ArgumentsDays int64
	RotateBytes   int64 // a file of JSON lines of this size is full; 0 for never
	RotateDays    int64 // or of this age
	// Trouble is called with errors of a file that lose no row; nil to ignore them.
	Trouble func(error)

	written auditTable // the table in the file
	open    func(ctx context.Context, at string, o backend.Options) (backend.Store, error)
}

// Flags are the values of the command line, which override the tables.
type Flags struct {
	Store   string         // a URL
	Audit   string         // a file of JSON lines
	Gate    string         // the name of the gate
	Account config.Account // whose state directory it is
	// Open opens the store, for a program that opens more kinds than files; nil for [kinds.Open].
	Open func(ctx context.Context, at string, o backend.Options) (backend.Store, error)
}

// Of reads the tables [audit] and [store]; set has the files that mistakes in them point
// to. Mistakes are a [config.MistakesError].
func Of(tables map[string]*tomltree.Value, set config.Set, f Flags) (Settings, error) {
	a, mistakes := auditConfig(tables["audit"])
	s, more := storeConfig(tables["store"], f.Account)
	if mistakes = append(mistakes, more...); mistakes.HasErrors() {
		return Settings{}, config.MistakesError{List: mistakes, Set: set}
	}
	settings := Settings{written: a, open: f.Open, AuditFile: a.File, RowsDays: DefaultRowsDays, ArgumentsDays: DefaultArgumentsDays, RotateBytes: defaultRotateBytes, RotateDays: a.RotateDays}
	if a.RotateBytes != nil {
		settings.RotateBytes = *a.RotateBytes
	}
	settings.Records.Arguments = audit.KeepFull
	if a.Arguments != "" {
		if err := settings.Records.Arguments.UnmarshalText([]byte(a.Arguments)); err != nil {
			return settings, fmt.Errorf("[audit] arguments: %w", err)
		}
	}
	redactor, err := audit.NewRedactor(a.Redact, a.RedactPatterns)
	if err != nil {
		return settings, fmt.Errorf("[audit] redact: %w", err)
	}
	settings.Records.Redactor = redactor
	for days, given := range map[*int64]*int64{&settings.RowsDays: a.RowsDays, &settings.ArgumentsDays: a.ArgumentsDays} {
		if given != nil {
			*days = *given
		}
	}
	if f.Audit != "" {
		settings.AuditFile = f.Audit
	}
	url := s.URL
	if f.Store != "" {
		url = f.Store
	}
	if settings.Store, err = StorePathOf(url, f.Account); err != nil {
		return settings, err
	}
	if settings.Local, err = LocalOf(settings.Store, f.Account); err != nil {
		return settings, err
	}
	if !location.IsFile(settings.Store) {
		settings.Records.Local = settings.Local
	}
	settings.Records.Gate, err = gateName(cmp.Or(f.Gate, s.Gate))
	return settings, err
}

// gateName returns the name of the gate: that of the machine if it has none.
func gateName(name string) (string, error) {
	if name == "" {
		host, err := os.Hostname()
		if err != nil || checkGate(host) != nil {
			return "stopgate", nil
		}
		return host, nil
	}
	return name, checkGate(name)
}

// Same reports whether two settings are equal.
func (s Settings) Same(other Settings) bool {
	return s.Store == other.Store && s.Records.Gate == other.Records.Gate && s.AuditFile == other.AuditFile && reflect.DeepEqual(s.written, other.written)
}

// Open opens the store for writing.
func (s Settings) Open(ctx context.Context) (backend.Store, error) {
	if location.IsFile(s.Store) {
		if err := makeDir(s.Store); err != nil {
			return nil, err
		}
	}
	if s.open != nil {
		return s.open(ctx, s.Store, s.Records)
	}
	return kinds.Open(ctx, s.Store, s.Records)
}

// Lines opens a file of JSON lines.
func (s Settings) Lines(path string) (*jsonl.Recorder, error) {
	return jsonl.Open(path, jsonl.Options{RotateBytes: s.RotateBytes, RotateAge: time.Duration(s.RotateDays) * 24 * time.Hour, Trouble: s.Trouble})
}

// maxOwnLines bounds how many processes with a store in memory run at once.
const maxOwnLines = 1000

// OwnLines opens the records of a store in memory, which belongs to one process: the first file
// that no other process writes to, below the state directory of the user of this process.
func (s Settings) OwnLines() (lines *jsonl.Recorder, path string, err error) {
	for n := 1; n <= maxOwnLines; n++ {
		name := "audit.jsonl"
		if n > 1 {
			name = fmt.Sprintf("audit-%d.jsonl", n)
		}
		if path, err = File(name); err != nil {
			return nil, "", err
		}
		if lines, err = s.Lines(path); !errors.Is(err, jsonl.ErrInUse) {
			return lines, path, err
		}
	}
	return nil, "", err
}

// Exists reports whether a store was opened before: its file is there. A store on a server answers
// when it is opened.
func (s Settings) Exists() bool {
	if !location.IsFile(s.Store) {
		return true
	}
	_, err := os.Stat(s.Store)
	return err == nil
}

// Retention returns the times from which rows and arguments are kept; 0 days keep all.
func (s Settings) Retention(now time.Time) (keep backend.Retention) {
	if s.RowsDays > 0 {
		keep.Rows = now.AddDate(0, 0, -int(s.RowsDays))
	}
	if s.ArgumentsDays > 0 {
		keep.Arguments = now.AddDate(0, 0, -int(s.ArgumentsDays))
	}
	return keep
}
