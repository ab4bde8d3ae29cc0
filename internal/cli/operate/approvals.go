package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/terminal"
	"github.com/stopgate/stopgate/internal/approve/frame"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewApprovals(s cli.Streams) *cobra.Command {
	cmd := cli.Group("approvals", "see and answer what calls wait for", newApprovalsList(s))
	cmd.Example = "  stopgate approvals watch"
	cmd.AddCommand(newApprovalsShow(s), newApprovalsWatch(), newApprovalsAnswer(s))
	return cmd
}

// withQueue calls do with the store and its queue of questions, and closes the store.
func withQueue(cmd *cobra.Command, f *inputs.Store, do func(backend.Store, *approve.Queue) error) (err error) {
	settings, err := f.Settings()
	if err != nil {
		return err
	}
	if settings.Store == place.Memory {
		return cli.Hinted(errors.New("a store in memory can be seen by its own process only"), "ask that process: GET /v1/approvals of its decision API")
	}
	store, err := inputs.ExistingStore(cmd, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	queue, err := approve.New(store, approve.Options{})
	if err != nil {
		return err
	}
	return do(store, queue)
}

func newApprovalsList(s cli.Streams) *cobra.Command {
	var f inputs.Store
	var all bool
	cmd := &cobra.Command{Use: "list", Short: "list open questions, the newest first", Args: cli.NoArgs}
	f.Add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "those that were answered or are over, too")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			filter := approve.Filter{State: approve.Waiting, Live: time.Now()}
			if all {
				filter = approve.Filter{}
			}
			list, err := queue.List(cmd.Context(), filter)
			if err != nil {
				return err
			}
			return cli.PrintList(s, *format, list, "no questions", entryLine)
		})
	}
	return cmd
}

// entryLine is a question in one line.
func entryLine(e approve.Entry) string {
	what := string(e.State)
	if e.State == approve.Waiting && !e.Complete {
		what = "arriving"
	}
	args := e.Args
	if e.State == approve.Edited || e.State == approve.Used && e.Edit != "" {
		args = e.Edit
	}
	line := fmt.Sprintf("%s  %s  %-9s  %s  %s", e.ID, e.Asked.Local().Format("15:04:05"), what,
		visible.Text(string(e.Tool)), visible.Elide(visible.Text(args), 60))
	if e.By != "" {
		line += "  by " + visible.Text(e.By)
	}
	if e.Requirement.Approvals > 1 && e.State == approve.Waiting {
		line += fmt.Sprintf("  %d of %d approvals", len(e.Consents), e.Requirement.Approvals)
	}
	return strings.TrimRight(line, " ")
}

func newApprovalsShow(s cli.Streams) *cobra.Command {
	var f inputs.Store
	cmd := &cobra.Command{Use: "show ID", Short: "print one question in full", Args: oneQuestion}
	f.Add(cmd)
	f.CompleteQuestions(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			e, err := question(cmd.Context(), queue, args[0])
			if err != nil {
				return err
			}
			text := terminal.Frame(e, time.Now(), true)
			if e.State != approve.Waiting {
				text += "it was " + string(e.State)
				if e.By != "" {
					text += " by " + visible.Text(e.By)
				}
				if e.Reason != "" {
					text += ": " + visible.Text(e.Reason)
				}
				text += "\n"
			}
			if *format == "json" {
				return cli.WriteJSON(s.Out, e)
			}
			_, err = io.WriteString(asking{s.Out}, text)
			return err
		})
	}
	return cmd
}

func oneQuestion(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("%s takes the id of one question, as 'stopgate approvals list' prints it", cmd.CommandPath())
	}
	return nil
}

func question(ctx context.Context, queue *approve.Queue, id string) (approve.Entry, error) {
	e, err := queue.Entry(ctx, id)
	if errors.Is(err, approve.ErrUnknown) {
		err = cli.Hinted(fmt.Errorf("there is no question %q", id), "stopgate approvals list prints those that are open")
	}
	return e, err
}

// answerElsewhere is how a person answers without this machine's terminal.
const answerElsewhere = ", or answer over the decision API with a token of the scope approve"

func newApprovalsWatch() *cobra.Command {
	var f inputs.Store
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "answer questions as they come, at this terminal",
		Long: `watch shows every question at the terminal it was started from and takes the
answers there. While it runs somebody can answer, so calls wait for you instead of
being denied. Any number of people can watch; the first no wins.`,
		Args: cli.NoArgs,
	}
	f.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		t, err := cli.OpenTerminal(answerElsewhere)
		if err != nil {
			return err
		}
		defer t.Close()
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			at := terminal.Terminal{In: t.File, Out: asking{t.File}, By: cli.Operator(), Drain: t.Drain, Edit: func(ctx context.Context, text string) (string, error) {
				return t.Edit(ctx, pretty(text))
			}}
			return at.Serve(ctx, queue)
		})
	}
	return cmd
}

// pretty indents JSON for an editor and returns other text unchanged.
func pretty(text string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(json.RawMessage(text)) != nil {
		return text
	}
	return out.String()
}

func newApprovalsAnswer(s cli.Streams) *cobra.Command {
	var f inputs.Store
	cmd := &cobra.Command{
		Use:        "answer ID",
		Short:      "answer one question, at this terminal",
		SuggestFor: []string{"approve", "allow", "deny", "edit"},
		Long: `answer shows a question at the terminal it was started from, together with a code.
A yes must come with the code, so that only somebody who sees the terminal can give
it. Without a terminal nothing can be answered.`,
		Args: oneQuestion,
	}
	f.Add(cmd)
	f.CompleteQuestions(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := cli.OpenTerminal(answerElsewhere)
		if err != nil {
			return err
		}
		defer t.Close()
		return withQueue(cmd, &f, func(_ backend.Store, queue *approve.Queue) error {
			e, err := question(cmd.Context(), queue, args[0])
			if err != nil {
				return err
			}
			e, err = answerAt(cmd.Context(), t, queue, e)
			if err != nil {
				return fmt.Errorf("not answered: %s", strings.TrimPrefix(err.Error(), "approve: "))
			}
			text := string(e.State)
			if n := e.Wanting(); n > 0 {
				text = fmt.Sprintf("approved by %d, %d more have to", len(e.Consents), n)
			}
			return format.Print(s.Out, e, fmt.Sprintf("%s  %s\n", e.ID, text))
		})
	}
	return cmd
}

// errAnswer is the error of a line that is not an answer.
var errAnswer = errors.New("that was no answer")

// answerAt puts a question before the person at a terminal.
func answerAt(ctx context.Context, t *tty.Terminal, queue *approve.Queue, e approve.Entry) (approve.Entry, error) {
	code, err := tty.Code()
	if err != nil {
		return e, err
	}
	out := asking{t.File}
	fmt.Fprintf(out, "%s\n  y %s         run it, this once\n  n [REASON]     do not run it\n", terminal.Frame(e, time.Now(), true), code)
	if e.Complete {
		fmt.Fprintf(out, "  e %s         change the arguments in an editor, then run that\n", code)
	}
	offers := frame.Offers(e)
	for i, o := range offers {
		fmt.Fprintf(out, "  a %s %d       run it, and do not ask again: %s\n                 %s\n", code, i+1, o.Title, o.Sentence)
		if o.Example != "" {
			fmt.Fprintf(out, "                 for example %s\n", o.Example)
		}
	}
	t.Drain() // before the prompt, so that no answer is lost
	fmt.Fprint(t, "> ")
	line, err := t.Line()
	if err != nil {
		return e, err
	}
	reply := approve.Reply{By: cli.Operator(), Via: approve.ViaCommand, Seen: e.Binding.Hash()}
	switch key, rest, _ := strings.Cut(line, " "); {
	case key == "n":
		reply.Reason = strings.TrimSpace(rest)
	case key == "y" && rest == code:
		reply.Kind = approve.Yes
	case key == "e" && rest == code && e.Complete:
		text, err := t.Edit(ctx, pretty(e.Args))
		if err != nil {
			return e, err
		}
		reply.Kind, reply.Args = approve.With, []byte(text)
	case key == "a":
		for i, o := range offers {
			if rest != fmt.Sprintf("%s %d", code, i+1) {
				continue
			}
			scope, err := e.Extension(o.Name)
			if err != nil {
				return e, err
			}
			e, _, err = queue.Grant(ctx, e.ID, reply, scope)
			return e, err
		}
		return e, errAnswer
	default:
		return e, errAnswer
	}
	return queue.Answer(ctx, e.ID, reply)
}
