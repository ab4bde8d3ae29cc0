package inputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/backend"
)

// OpenNamed opens the file that the command line names, or the records as log
// does.
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

// ExistingStore opens a store that is there already.
func ExistingStore(cmd *cobra.Command, settings place.Settings) (backend.Store, error) {
	if settings.Store == place.Memory {
		return nil, cli.Usagef("a store in memory ends with its process: name another one with --store")
	}
	if _, err := os.Stat(settings.Store); err != nil {
		return nil, cli.Hinted(fmt.Errorf("there is no store at %s yet", settings.Store), "run stopgate up first, or name the store with --store")
	}
	return settings.Open(cmd.Context())
}

// State are the flags that name stores.
type State struct{ place.Flags }

func (f *State) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Store, "store", "", "`URL` of the store: sqlite:PATH or memory (default: in the user's state directory)")
	cmd.Flags().StringVar(&f.Audit, "audit", "", "JSON Lines `FILE` of the records (default: in the store)")
	_ = cmd.MarkFlagFilename("store", "db")
	_ = cmd.MarkFlagFilename("audit", "jsonl")
}

// StateOf reads the tables [audit] and [store]; flags win over them.
func StateOf(l Loaded, f State) (place.Settings, error) {
	return place.Of(l.Program.Settings().Tables, l.Set, f.Flags)
}

// Records find the records for a command that reads them.
type Records struct {
	State
	Files []string
}

func (f *Records) Add(cmd *cobra.Command) {
	f.State.Add(cmd)
	cmd.Flags().StringArrayVar(&f.Files, "policy", nil, "policy `FILE` whose [store] and [audit] say where the records are (default: as up finds it)")
	_ = cmd.MarkFlagFilename("policy", "toml")
	cmd.Flags().Lookup("audit").Usage = "read the JSON Lines `FILE` of records instead of the store"
	cmd.Flags().Lookup("store").Usage = "read the records of the store at `URL` (default: as up would write them)"
}

// Settings are where up keeps its state: what the operator's files say in [store] and
// [audit]. Mistakes elsewhere in them do not matter, nor does a project file that nobody
// trusts: records are read and a lockdown is ordered just when something is wrong. Files
// that cannot be read are passed over where flags say all.
func (f *Records) Settings() (place.Settings, error) {
	set, tables, err := OperatorTables(f.Files)
	if err != nil && f.Store == "" && f.Audit == "" {
		return place.Settings{}, err
	}
	return place.Of(tables, set, f.Flags)
}

// OperatorTables reads the operational tables of the files that hold and are trusted,
// each from the first file that has it.
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
		file, mistakes := syntax.Parse(source.Name, source.Text)
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

// Open opens the records, wherever they are.
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

func OpenRecords(ctx context.Context, path string) (*records.Log, error) {
	if path == place.Memory {
		return nil, cli.Usagef("a store in memory has no records to read")
	}
	log, err := records.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Hinted(
			fmt.Errorf("there are no records at %s yet", path),
			"run stopgate up first, or name the records with --store or --audit",
		)
	}
	return log, err
}
