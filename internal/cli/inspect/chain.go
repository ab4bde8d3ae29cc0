package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
)

// restoredJSON is the answer of restored.
type restoredJSON struct {
	Before headJSON `json:"before"`
	After  headJSON `json:"after"`
}

func newLogRestored(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var by string
	cmd := &cobra.Command{
		Use:   "restored --by NAME",
		Short: "accept a backup that was put in place of the store",
		Long: `restored makes the end of the records that are there the one that is expected from now
on. Without it a store that holds fewer rows than were written is damaged, and
nothing runs. A row names who accepted it, and the number of the row that was
written last. Stop every stopgate that uses the store first.`,
		Args: cli.NoArgs,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&by, "by", "", "`NAME` of the operator, for the records")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if strings.TrimSpace(by) == "" {
			return cli.Usagef("name who accepts the backup with --by")
		}
		log, _, err := f.Open(cmd.Context())
		if err != nil {
			return err
		}
		defer log.Close()
		before, after, err := log.Accept(cmd.Context(), by, time.Now())
		if err != nil {
			return err
		}
		return format.Print(s.Out, restoredJSON{headOf(records.Head{Head: before}), headOf(records.Head{Head: after})},
			fmt.Sprintf("accepted: the records end at row %d; row %d was expected\n", after.Seq, before.Seq))
	}
	return cmd
}

func newLogExport(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var output, chain string
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "write all rows as JSON Lines, as they were sealed",
		Long: `export writes the chain as it is kept, so that verify can check the export too.
Arguments are not part of it. FILE is what is read, as with verify; the export goes to
standard output, or to a new file with --output.

Of a store of several gates it writes all chains, by time. --chain selects one of
them, so that verify can check it.`,
		Example: "  stopgate log export --output rows.jsonl\n  stopgate log verify rows.jsonl",
		Args:    cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to a new `FILE` (default: standard output)")
	_ = cmd.MarkFlagFilename("output", "jsonl")
	cmd.Flags().StringVar(&chain, "chain", "", "only the chain with this `ID`, as 'stopgate log head' prints it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		log, err := f.OpenNamed(cmd, args)
		if err != nil {
			return err
		}
		defer log.Close()
		to, done := s.Out, func() error { return nil }
		if output != "" {
			file, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return cli.Hinted(fmt.Errorf("log export: %s is there already; nothing was written", visible.Text(output)), "name another file")
			}
			if err != nil {
				return fmt.Errorf("log export: %w", err)
			}
			defer file.Close()
			to, done = file, file.Sync
		}
		out := bufio.NewWriter(to)
		var failed error
		write := func(line []byte) bool {
			_, failed = out.Write(append(line, '\n'))
			return failed == nil
		}
		if chain != "" {
			err = log.Chain(cmd.Context(), chain, 0, write)
		} else {
			_, err = log.Lines(cmd.Context(), records.Mark{}, write)
		}
		return errors.Join(err, failed, out.Flush(), done())
	}
	return cmd
}

func newLogPrune(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var rowsDays, argumentsDays int64
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove what is older than the retention from the store",
		Long: `prune removes old rows from the start of the chain and leaves a checkpoint row that
names the last of them, so that the rest still verifies. Arguments, facts,
sessions and approvals go with it. Rows that an earlier version wrote are
rewritten in the form of this one, which takes less space; their lines stay what
they are. up does the same every few hours.

Of records in a file of JSON Lines, the full files ([audit] rotate_bytes) go in
which every row is old enough.`,
		Args: cli.NoArgs,
	}
	f.Add(cmd)
	cmd.Flags().Int64Var(&rowsDays, "rows-days", place.DefaultRowsDays, "keep rows, facts and approvals for `N` days; 0 keeps all (default: [audit] rows_days, else 90)")
	cmd.Flags().Int64Var(&argumentsDays, "arguments-days", place.DefaultArgumentsDays, "keep arguments for `N` days; 0 keeps all (default: [audit] arguments_days, else 14)")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if rowsDays < 0 || argumentsDays < 0 {
			return cli.Usagef("a retention is a number of days, 0 keeps all")
		}
		settings, err := f.Settings()
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("rows-days") {
			settings.RowsDays = rowsDays
		}
		if cmd.Flags().Changed("arguments-days") {
			settings.ArgumentsDays = argumentsDays
		}
		var done prunedJSON
		if settings.AuditFile != "" && (f.Store == "" || f.Audit != "") && settings.RowsDays > 0 {
			if done.File, err = pruneFile(settings, time.Now()); err != nil {
				return err
			}
		}
		if f.Audit == "" || f.Store != "" || done.File == nil {
			store, err := inputs.ExistingStore(cmd, settings)
			if err != nil {
				return err
			}
			if done.Pruned, err = store.Retain(cmd.Context(), settings.Retention(time.Now()), time.Now()); err == nil {
				err = convert(cmd.Context(), s, store)
			}
			if err := errors.Join(err, store.Close()); err != nil {
				return err
			}
		}
		return format.Print(s.Out, done, done.text())
	}
	return cmd
}

// convert writes the records of an earlier version in the form of this one.
func convert(ctx context.Context, s cli.Streams, store backend.Store) error {
	progress := cli.StartProgress(s, "converting", "rows", 0)
	defer progress.End()
	total := int64(0)
	return store.Convert(ctx, func(left int64) {
		total = max(total, left)
		progress.Set(int(total-left), int(total))
	})
}

// prunedJSON is the answer of prune; it changes only by addition.
type prunedJSON struct {
	backend.Pruned
	// File counts the rows removed from a file, absent where there is none.
	File *jsonl.Pruned `json:"file,omitempty"`
}

func pruneFile(settings place.Settings, now time.Time) (*jsonl.Pruned, error) {
	gone, err := jsonl.Prune(settings.AuditFile, settings.Retention(now).Rows)
	if errors.Is(err, fs.ErrNotExist) {
		err = cli.Hinted(fmt.Errorf("there are no records at %s yet", settings.AuditFile), "run stopgate up first, or name the records with --audit")
	}
	return &gone, err
}

func (p prunedJSON) text() string {
	text := fmt.Sprintf("removed %d rows, %d arguments, %d facts, %d sessions, %d approvals\n", p.Rows, p.Arguments, p.Facts, p.Sessions, p.Approvals)
	if p.KeptTexts > 0 {
		text += fmt.Sprintf("removed %d kept texts of sessions\n", p.KeptTexts)
	}
	if p.File != nil {
		text += fmt.Sprintf("removed %d full files with %d rows\n", p.File.Files, p.File.Rows)
	}
	return text
}
