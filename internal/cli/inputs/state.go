package inputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/store/servers"
)

// OpenNamed opens the file that the command line names, else the records as Open does.
func (f *Records) OpenNamed(cmd *cobra.Command, args []string) (*records.Log, error) {
	if len(args) == 0 {
		log, _, err := f.Open(cmd.Context())
		return log, err
	}
	if f.Store != "" || f.Audit != "" {
		return nil, cli.Usagef("name the records once: %s, or --store or --audit", args[0])
	}
	path, err := place.StorePath(args[0])
	if err != nil {
		return nil, err
	}
	return OpenRecords(cmd.Context(), path)
}

// ExistingStore opens a store, which has to exist.
func ExistingStore(cmd *cobra.Command, settings place.Settings) (backend.Store, error) {
	if settings.Store == place.Memory {
		return nil, cli.Usagef("a store in memory ends with its process: name another one with --store")
	}
	if !settings.Exists() {
		return nil, cli.Hinted(fmt.Errorf("there is no store at %s yet", settings.Store), "run stopgate up first, or name the store with --store")
	}
	return settings.Open(cmd.Context())
}

// State are the flags that name stores.
type State struct{ place.Flags }

// Add adds --store, --audit and --gate.
func (f *State) Add(cmd *cobra.Command) {
	f.add(cmd, "`URL` of the store: sqlite:PATH, postgres://HOST/DATABASE or memory (default: in the user's state directory)", "JSON Lines `FILE` of the records (default: in the store)")
	cmd.Flags().StringVar(&f.Gate, "gate", "", "`NAME` of this gate in a store of several gates (default: the name of the machine)")
}

func (f *State) add(cmd *cobra.Command, storeUsage, auditUsage string) {
	f.AddStore(cmd, storeUsage)
	cmd.Flags().StringVar(&f.Audit, "audit", "", auditUsage)
	_ = cmd.MarkFlagFilename("audit", "jsonl")
}

// AddStore adds --store.
func (f *State) AddStore(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&f.Store, "store", "", usage)
	_ = cmd.MarkFlagFilename("store", "db")
}

// StateOf reads the tables [audit] and [store]; flags win over them.
func StateOf(l Loaded, f State) (place.Settings, error) {
	f.Flags.Open = openStore
	return place.Of(l.Program.Settings().Tables, l.Set, f.Flags)
}

// openStore opens a store. It shows on a terminal that this takes long, as it does when tables of an
// older version are migrated.
func openStore(ctx context.Context, at string, o backend.Options) (backend.Store, error) {
	progress := cli.StartProgress(cli.Streams{Err: os.Stderr}, "opening", "the store", 0)
	defer progress.End()
	return servers.Open(ctx, at, o)
}

// Store finds the store for a command that reads or changes its questions, grants or sessions.
type Store struct{ Records }

// Add adds --store and --policy. --audit is accepted and hidden.
func (f *Store) Add(cmd *cobra.Command) {
	f.Records.Add(cmd)
	_ = cmd.Flags().MarkHidden("audit")
	cmd.Flags().Lookup("store").Usage = "`URL` of the store: sqlite:PATH or postgres://HOST/DATABASE (default: as up finds it)"
}

// Open opens the store, which has to exist.
func (f *Store) Open(cmd *cobra.Command) (backend.Store, error) {
	settings, err := f.Settings()
	if err != nil {
		return nil, err
	}
	return ExistingStore(cmd, settings)
}

// Records find the records for a command that reads them.
type Records struct {
	State
	Files []string
}

// Add adds --store, --audit and --policy.
func (f *Records) Add(cmd *cobra.Command) {
	f.State.add(cmd, "read the records of the store at `URL` (default: as up would write them)", "read the JSON Lines `FILE` of records instead of the store")
	PolicyFlag(cmd, &f.Files, " whose [store] and [audit] say where the records are (default: as up finds it)")
}

// Settings returns where up keeps its state: [store] and [audit] of the operator's files.
// Mistakes elsewhere in them do not matter, nor does a project file that is not trusted, because
// records are read and a lockdown is ordered when something is wrong. Files that cannot be read
// are ignored where flags name a store or a file.
func (f *Records) Settings() (place.Settings, error) {
	set, tables, err := OperatorTables(f.Files)
	if err != nil && f.Store == "" && f.Audit == "" {
		return place.Settings{}, err
	}
	flags := f.Flags
	flags.Open = openStore
	return place.Of(tables, set, flags)
}

// OperatorTables reads the operational tables of the trusted policy files, each from the first
// file that has it.
func OperatorTables(files []string) (config.Set, map[string]*tomltree.Value, error) {
	dir, err := os.Getwd()
	if err != nil {
		return config.Set{}, nil, fmt.Errorf("find the policy: %w", err)
	}
	where := config.Standard(dir)
	where.Policy = files
	set, err := config.Discover(where)
	if err != nil {
		return set, nil, Unread(err)
	}
	tables := make(map[string]*tomltree.Value)
	for _, source := range set.Sources() {
		if !source.Trusted {
			continue
		}
		file, mistakes := parser.Parse(kinds.Table(), source.Name, source.Text)
		if file == nil {
			return set, nil, config.MistakesError{List: mistakes, Set: set}
		}
		for name, table := range file.Tables {
			if tables[name] == nil {
				tables[name] = table
			}
		}
	}
	return set, tables, nil
}

// Open opens the records.
func (f *Records) Open(ctx context.Context) (*records.Log, place.Settings, error) {
	s, err := f.Settings()
	if err != nil {
		return nil, s, err
	}
	path := s.Store
	if s.AuditFile != "" && (f.Store == "" || f.Audit != "") {
		path = s.AuditFile
	}
	log, err := OpenRecords(ctx, path)
	return log, s, err
}

// OpenRecords opens the records in the file or store at a path or URL.
func OpenRecords(ctx context.Context, path string) (*records.Log, error) {
	if path == place.Memory {
		return nil, cli.Usagef("a store in memory has no records to read")
	}
	log, err := records.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Hinted(
			fmt.Errorf("there are no records at %s yet", location.Show(path)),
			"run stopgate up first, or name the records with --store or --audit",
		)
	}
	return log, err
}
