package operate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/session"
)

func NewSessions(s cli.Streams) *cobra.Command {
	cmd := cli.Group("sessions", "look at sessions and their facts", newSessionsList(s))
	cmd.Example = "  stopgate sessions -n 10\n  stopgate sessions show ID"
	cmd.AddCommand(newSessionsShow(s), newSessionsReset(s), newSessionsReconcile(s))
	return cmd
}

// sessionFlags find the store and a session in it.
type sessionFlags struct {
	inputs.Store
	principal string
}

func (f *sessionFlags) add(cmd *cobra.Command) {
	f.Store.Add(cmd)
	cmd.Flags().StringVar(&f.principal, "principal", "", "`NAME` of the principal (default: all; for one session the only one that has it)")
}

// sessionJSON is a session for programs; it changes only by addition.
type sessionJSON struct {
	Session   stopgate.SessionID `json:"session"`
	Principal stopgate.Principal `json:"principal"`
	Facts     int64              `json:"facts"`
	First     time.Time          `json:"first"`
	Last      time.Time          `json:"last"`
	Head      uint64             `json:"head"`
}

func sessionOf(i session.Info) sessionJSON {
	return sessionJSON{
		Session: i.Owner.Session, Principal: i.Owner.Principal, Facts: i.Facts,
		First: time.UnixMilli(i.First).UTC(), Last: time.UnixMilli(i.Last).UTC(), Head: i.Head,
	}
}

func newSessionsList(s cli.Streams) *cobra.Command {
	var f sessionFlags
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "list sessions, the newest first", Args: cli.NoArgs}
	f.add(cmd)
	cmd.Flags().IntVarP(&limit, "last", "n", 100, "at most `N` sessions")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		store, err := f.Open(cmd)
		if err != nil {
			return err
		}
		list, err := store.Sessions(cmd.Context(), stopgate.Principal(f.principal), limit)
		if err := errors.Join(err, store.Close()); err != nil {
			return err
		}
		shown := make([]sessionJSON, len(list))
		for i, info := range list {
			shown[i] = sessionOf(info)
		}
		return cli.PrintList(s, *format, shown, "", func(i sessionJSON) string {
			return fmt.Sprintf("%s  %6d facts  %s%s", i.Last.Local().Format(time.DateTime), i.Facts, name(string(i.Session)), of(i.Principal))
		})
	}
	return cmd
}

// name shows a session's name, also the empty one.
func name(s string) string {
	if s == "" {
		return "(no name)"
	}
	return visible.Text(s)
}

func of(p stopgate.Principal) string {
	if p == "" {
		return ""
	}
	return " of " + visible.Text(string(p))
}

// factJSON is a fact for programs.
type factJSON struct {
	session.Fact
	Time time.Time `json:"time"`
}

func newSessionsShow(s cli.Streams) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{Use: "show ID", Short: "print the facts of a session, oldest first", Args: oneSession}
	f.add(cmd)
	f.CompleteSessions(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		store, err := f.Open(cmd)
		if err != nil {
			return err
		}
		defer store.Close()
		owner, err := f.owner(cmd, store, args[0])
		if err != nil {
			return err
		}
		const page = 500
		for after, more := uint64(0), true; more; {
			facts, err := store.Facts(cmd.Context(), owner, after, page)
			if err != nil {
				return err
			}
			shown := make([]factJSON, len(facts))
			for i, fact := range facts {
				after, shown[i] = fact.Seq, factJSON{fact, time.UnixMilli(fact.At).UTC()}
			}
			if err := cli.PrintList(s, *format, shown, "", factJSON.text); err != nil {
				return err
			}
			more = len(facts) == page
		}
		return nil
	}
	return cmd
}

// text returns a fact in one line.
func (f factJSON) text() string {
	parts := []string{fmt.Sprintf("%6d", f.Seq), f.Time.Local().Format(time.DateTime), fmt.Sprintf("%-10s", f.Kind)}
	for _, word := range []string{string(f.Tool), string(f.Code), f.Name, string(f.Proposal)} {
		if word != "" {
			parts = append(parts, visible.Text(word))
		}
	}
	if f.By != "" {
		parts = append(parts, "by "+visible.Text(f.By))
	}
	for _, m := range f.Marks {
		parts = append(parts, visible.Text(m.Key.Text()))
	}
	return strings.Join(parts, "  ")
}

func oneSession(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("%s takes the id of one session, as 'stopgate sessions list' prints it", cmd.CommandPath())
	}
	return nil
}

// owner finds a session by its id.
func (f *sessionFlags) owner(cmd *cobra.Command, store backend.Store, id string) (session.Owner, error) {
	all, err := store.Sessions(cmd.Context(), stopgate.Principal(f.principal), 1<<30)
	if err != nil {
		return session.Owner{}, err
	}
	var found []session.Owner
	for _, i := range all {
		if string(i.Owner.Session) == id {
			found = append(found, i.Owner)
		}
	}
	switch len(found) {
	case 0:
		return session.Owner{}, cli.Hinted(fmt.Errorf("there is no session %q", id), "stopgate sessions list prints them")
	case 1:
		return found[0], nil
	}
	return session.Owner{}, cli.Usagef("%d principals have a session %q: name one with --principal", len(found), id)
}

func newSessionsReset(s cli.Streams) *cobra.Command {
	cmd := newSessionsFact(s, "reset ID", "count the denials of a session anew", `reset lifts denial_limit: denials in a row are counted anew, as they are when the
user says something. Nothing else is forgotten.`, session.Spoke, "its denials are counted anew")
	return cmd
}

func newSessionsReconcile(s cli.Streams) *cobra.Command {
	return newSessionsFact(s, "reconcile ID", "say that a degraded session was looked at", `A session is degraded when the result of a call that ran could not be stored: what
its policies govern is denied. reconcile says that you have looked at what the call
did, and that the facts may be trusted again.`, session.Reconciled, "it is not degraded any more")
}

// operatorFactJSON is the fact that reset or reconcile added, for programs; it changes only by
// addition.
type operatorFactJSON struct {
	Session   stopgate.SessionID `json:"session"`
	Principal stopgate.Principal `json:"principal"`
	Kind      session.Kind       `json:"kind"`
	By        string             `json:"by"`
	Time      time.Time          `json:"time"`
}

// newSessionsFact makes a command that adds one fact of the operator's.
func newSessionsFact(s cli.Streams, use, short, long string, kind session.Kind, done string) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: oneSession}
	f.add(cmd)
	f.CompleteSessions(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		store, err := f.Open(cmd)
		if err != nil {
			return err
		}
		defer store.Close()
		owner, err := f.owner(cmd, store, args[0])
		if err != nil {
			return err
		}
		fact := session.Fact{Kind: kind, At: time.Now().UnixMilli(), By: cli.Operator()}
		err = store.Update(cmd.Context(), owner, fact.Keys(), func(session.State) (gate.Change, error) {
			return gate.Change{Facts: []session.Fact{fact}}, nil
		})
		if err != nil {
			return err
		}
		return format.Print(s.Out, operatorFactJSON{owner.Session, owner.Principal, fact.Kind, fact.By, time.UnixMilli(fact.At).UTC()},
			fmt.Sprintf("session %s: %s\n", name(string(owner.Session)), done))
	}
	return cmd
}
