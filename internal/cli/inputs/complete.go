package inputs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
)

// completedRows is how many of the newest rows completion looks at: it is as fast with many.
const completedRows = 300

// CompleteRows completes a flag with values of the newest records, the newest first.
func (f *Records) CompleteRows(cmd *cobra.Command, flag string, value func(*stopgate.Record) string) {
	cli.LookUpFlag(cmd, flag, func(ctx context.Context, _ *cobra.Command) []string { return f.values(ctx, value) })
}

// CompleteProposals completes arguments with the ids of the newest decided calls.
func (f *Records) CompleteProposals(cmd *cobra.Command) {
	cmd.ValidArgsFunction = cli.LookUp(func(ctx context.Context, _ *cobra.Command) []string {
		return f.values(ctx, func(r *stopgate.Record) string {
			if r.Kind != stopgate.RecordDecision {
				return ""
			}
			return string(r.ID) + "\t" + string(r.Status) + " " + visible.Elide(visible.Text(string(r.Tool)), 40)
		})
	})
}

func (f *Records) values(ctx context.Context, value func(*stopgate.Record) string) (list []string) {
	log, _, err := f.Open(ctx)
	if err != nil {
		return nil
	}
	defer log.Close()
	rows, _, err := log.Newest(ctx, completedRows, &records.Filter{})
	if err != nil {
		return nil
	}
	known := map[string]bool{"": true}
	for i := range slices.Backward(rows) {
		if v := value(&rows[i].Record); !known[v] && completable(v) {
			known[v] = true
			list = append(list, v)
		}
	}
	return list
}

// completable reports whether a word can be offered: one that a shell would print as it is.
func completable(word string) bool {
	word, _, _ = strings.Cut(word, "\t")
	return visible.Text(word) == word && !strings.ContainsAny(word, "\n\t")
}

// CompleteSessions completes arguments with the newest sessions.
func (f *Store) CompleteSessions(cmd *cobra.Command) {
	f.complete(cmd, func(ctx context.Context, store backend.Store) (list []string) {
		sessions, err := store.Sessions(ctx, "", 200)
		if err != nil {
			return nil
		}
		for _, s := range sessions {
			if id := string(s.Owner.Session); id != "" && completable(id) {
				list = append(list, id+"\t"+time.UnixMilli(s.Last).Local().Format(time.DateTime))
			}
		}
		return list
	})
}

// CompleteQuestions completes arguments with the ids of the questions that wait.
func (f *Store) CompleteQuestions(cmd *cobra.Command) {
	f.complete(cmd, func(ctx context.Context, store backend.Store) (list []string) {
		entries, err := store.Entries(ctx, approve.Filter{State: approve.Waiting, Live: time.Now(), Limit: 200})
		if err != nil {
			return nil
		}
		for _, e := range entries {
			list = append(list, e.ID+"\t"+visible.Elide(visible.Text(string(e.Tool)), 40)+" "+visible.Elide(visible.Text(e.Args), 60))
		}
		return list
	})
}

// CompleteGrants completes arguments with the ids of the grants that hold.
func (f *Store) CompleteGrants(cmd *cobra.Command) {
	f.complete(cmd, func(ctx context.Context, store backend.Store) (list []string) {
		grants, err := store.Grants(ctx, approve.GrantFilter{Live: time.Now()})
		if err != nil {
			return nil
		}
		for _, g := range grants {
			list = append(list, g.ID+"\t"+visible.Elide(visible.Text(string(g.Tool)), 40))
		}
		return list
	})
}

func (f *Store) complete(cmd *cobra.Command, words func(context.Context, backend.Store) []string) {
	cmd.ValidArgsFunction = cli.LookUp(func(ctx context.Context, _ *cobra.Command) []string {
		settings, err := f.Settings()
		if err != nil || !settings.Exists() {
			return nil
		}
		store, err := settings.Open(ctx)
		if err != nil {
			return nil
		}
		defer store.Close()
		return words(ctx, store)
	})
}

// CompleteTools completes a flag with the tools that the policy has rules for.
func (f *Policy) CompleteTools(cmd *cobra.Command, flag string) {
	cli.LookUpFlag(cmd, flag, func(context.Context, *cobra.Command) (list []string) {
		parsed, _ := parsedFiles(f.Files)
		for _, file := range parsed {
			for _, t := range file.Tools {
				if name := t.Name; completable(name) && !strings.ContainsAny(name, "*?") && !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
		slices.Sort(list)
		return list
	})
}
