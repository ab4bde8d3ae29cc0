package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/audit/jsonl"
	rows "github.com/stopgate/stopgate/audit/sqlite"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/records"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/policy/syntax"
	"github.com/stopgate/stopgate/store/sqlite"
)

// auditTable is the table [audit].
type auditTable struct {
	File           string   `toml:"file"`
	Arguments      string   `toml:"arguments"`
	Redact         []string `toml:"redact"`
	RedactPatterns []string `toml:"redact_patterns"`
	RowsDays       *int64   `toml:"rows_days"`
	ArgumentsDays  *int64   `toml:"arguments_days"`
	RotateBytes    *int64   `toml:"rotate_bytes"`
	RotateDays     int64    `toml:"rotate_days"`
}

// storeTable is the table [store].
type storeTable struct {
	URL string `toml:"url"`
}

// Retention where the policy file says nothing (DECISIONS S61).
const (
	defaultRowsDays      = 90
	defaultArgumentsDays = 14
	defaultRotateBytes   = 64 << 20
)

// stateSettings say where state is kept and for how long.
type stateSettings struct {
	store         string // a path, or memoryStore
	auditFile     string // a file of JSON lines beside it, "" for the store itself
	records       rows.Options
	rowsDays      int64
	argumentsDays int64
	rotateBytes   int64 // a file of JSON lines of this size is full; 0 for never
	rotateDays    int64 // or of this age
	// trouble hears of what goes wrong with a file and costs no row; nil for nobody.
	trouble func(error)
	written auditTable // what they were read from
}

// same reports whether two settings say the same.
func (s stateSettings) same(other stateSettings) bool {
	return s.store == other.store && s.auditFile == other.auditFile && reflect.DeepEqual(s.written, other.written)
}

// lines opens a file of JSON lines.
func (s stateSettings) lines(path string) (*jsonl.Recorder, error) {
	return jsonl.Open(path, jsonl.Options{RotateBytes: s.rotateBytes, RotateAge: time.Duration(s.rotateDays) * 24 * time.Hour, Trouble: s.trouble})
}

// memoryStore is the URL of a store that ends with the process.
const memoryStore = "memory"

// stateFlags are the flags that name stores.
type stateFlags struct{ store, audit string }

func (f *stateFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.store, "store", "", "`URL` of the store: sqlite:PATH or memory (default: in the user's state directory)")
	cmd.Flags().StringVar(&f.audit, "audit", "", "JSON Lines `FILE` of the records (default: in the store)")
	_ = cmd.MarkFlagFilename("store", "db")
	_ = cmd.MarkFlagFilename("audit", "jsonl")
}

// stateOf reads the tables [audit] and [store]; flags win over them.
func stateOf(l loaded, f stateFlags) (stateSettings, error) {
	return stateIn(l.program.Settings().Tables, l.set, f)
}

// stateIn reads the tables; set has the files that mistakes in them point to.
func stateIn(tables map[string]*tomltree.Value, set config.Set, f stateFlags) (stateSettings, error) {
	a, mistakes := auditConfig(tables["audit"])
	s, more := storeConfig(tables["store"])
	if mistakes = append(mistakes, more...); mistakes.HasErrors() {
		return stateSettings{}, mistakesError{mistakes, set}
	}
	settings := stateSettings{written: a, auditFile: a.File, rowsDays: defaultRowsDays, argumentsDays: defaultArgumentsDays, rotateBytes: defaultRotateBytes, rotateDays: a.RotateDays}
	if a.RotateBytes != nil {
		settings.rotateBytes = *a.RotateBytes
	}
	settings.records.Arguments = audit.KeepFull
	if a.Arguments != "" {
		if err := settings.records.Arguments.UnmarshalText([]byte(a.Arguments)); err != nil {
			return settings, fmt.Errorf("[audit] arguments: %w", err)
		}
	}
	redactor, err := audit.NewRedactor(a.Redact, a.RedactPatterns)
	if err != nil {
		return settings, fmt.Errorf("[audit] redact: %w", err)
	}
	settings.records.Redactor = redactor
	for days, given := range map[*int64]*int64{&settings.rowsDays: a.RowsDays, &settings.argumentsDays: a.ArgumentsDays} {
		if given != nil {
			*days = *given
		}
	}
	if f.audit != "" {
		settings.auditFile = f.audit
	}
	url := s.URL
	if f.store != "" {
		url, err = f.store, nil
	}
	settings.store, err = storePath(url)
	return settings, err
}

// storePath reads the URL of a store.
func storePath(url string) (string, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return statePath("stopgate.db")
	case url == memoryStore, url == "memory:":
		return memoryStore, nil
	case found && (scheme == "sqlite" || scheme == "file"):
		rest = strings.TrimPrefix(rest, "//")
		if rest == "" {
			return "", usagef("--store %s names no file", url)
		}
		return rest, nil
	case found && len(scheme) > 1 && strings.HasPrefix(rest, "//"):
		return "", usagef("stores of the kind %q are not supported: use sqlite:PATH or memory", scheme)
	}
	return url, nil
}

// statePath names a file in the user's state directory.
func statePath(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the state directory: %w; name the file with --store", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stopgate", name), nil
}

// openStore opens the store for a command that writes to it.
func openStore(ctx context.Context, s stateSettings) (*sqlite.Store, error) {
	if err := os.MkdirAll(filepath.Dir(s.store), 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	return sqlite.Open(ctx, s.store, sqlite.Options{Records: s.records})
}

// logFlags find the records for a command that reads them.
type logFlags struct {
	stateFlags
	files []string
}

func (f *logFlags) add(cmd *cobra.Command) {
	f.stateFlags.add(cmd)
	cmd.Flags().StringArrayVar(&f.files, "policy", nil, "policy `FILE` whose [store] and [audit] say where the records are (default: as up finds it)")
	_ = cmd.MarkFlagFilename("policy", "toml")
	cmd.Flags().Lookup("audit").Usage = "read the JSON Lines `FILE` of records instead of the store"
	cmd.Flags().Lookup("store").Usage = "read the records of the store at `URL` (default: as up would write them)"
}

// settings are where up keeps its state: what the operator's files say in [store] and
// [audit]. Mistakes elsewhere in them do not matter, nor does a project file that nobody
// trusts: records are read and a lockdown is ordered just when something is wrong. Files
// that cannot be read are passed over where flags say all.
func (f *logFlags) settings() (stateSettings, error) {
	set, tables, err := operatorTables(f.files)
	if err != nil && f.store == "" && f.audit == "" {
		return stateSettings{}, err
	}
	return stateIn(tables, set, f.stateFlags)
}

// operatorTables reads the operational tables of the files that hold and are trusted,
// each from the first file that has it.
func operatorTables(files []string) (config.Set, map[string]*tomltree.Value, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Set{}, nil, fmt.Errorf("find the policy: %w", err)
	}
	where := config.Standard(dir)
	where.Policy = files
	set, err := config.Discover(where)
	if err != nil {
		return set, nil, unread(err)
	}
	tables := make(map[string]*tomltree.Value)
	for _, source := range set.Sources() {
		if !source.Trusted {
			continue
		}
		file, mistakes := syntax.Parse(source.Name, source.Text)
		if file == nil {
			return set, nil, mistakesError{mistakes, set}
		}
		for name, table := range file.Tables {
			if tables[name] == nil {
				tables[name] = table
			}
		}
	}
	return set, tables, nil
}

// open opens the records, wherever they are.
func (f *logFlags) open(ctx context.Context) (*records.Log, stateSettings, error) {
	s, err := f.settings()
	if err != nil {
		return nil, s, err
	}
	path := s.store
	if s.auditFile != "" && (f.store == "" || f.audit != "") {
		path = s.auditFile
	}
	log, err := openRecords(ctx, path)
	return log, s, err
}

func openRecords(ctx context.Context, path string) (*records.Log, error) {
	if path == memoryStore {
		return nil, usagef("a store in memory has no records to read")
	}
	log, err := records.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hintedError{
			fmt.Errorf("there are no records at %s yet", path),
			"run stopgate up first, or name the records with --store or --audit",
		}
	}
	return log, err
}
