package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/records"
)

// stateFlags are the flags that name stores.
type stateFlags struct{ place.Flags }

func (f *stateFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Store, "store", "", "`URL` of the store: sqlite:PATH or memory (default: in the user's state directory)")
	cmd.Flags().StringVar(&f.Audit, "audit", "", "JSON Lines `FILE` of the records (default: in the store)")
	_ = cmd.MarkFlagFilename("store", "db")
	_ = cmd.MarkFlagFilename("audit", "jsonl")
}

// stateOf reads the tables [audit] and [store]; flags win over them.
func stateOf(l loaded, f stateFlags) (place.Settings, error) {
	return place.Of(l.program.Settings().Tables, l.set, f.Flags)
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
func (f *logFlags) settings() (place.Settings, error) {
	set, tables, err := operatorTables(f.files)
	if err != nil && f.Store == "" && f.Audit == "" {
		return place.Settings{}, err
	}
	return place.Of(tables, set, f.Flags)
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

// open opens the records, wherever they are.
func (f *logFlags) open(ctx context.Context) (*records.Log, place.Settings, error) {
	s, err := f.settings()
	if err != nil {
		return nil, s, err
	}
	path := s.Store
	if s.AuditFile != "" && (f.Store == "" || f.Audit != "") {
		path = s.AuditFile
	}
	log, err := openRecords(ctx, path)
	return log, s, err
}

func openRecords(ctx context.Context, path string) (*records.Log, error) {
	if path == place.Memory {
		return nil, usagef("a store in memory has no records to read")
	}
	log, err := records.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hinted(
			fmt.Errorf("there are no records at %s yet", path),
			"run stopgate up first, or name the records with --store or --audit",
		)
	}
	return log, err
}
