package evaluate

import (
	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
)

func NewDecide(s cli.Streams) *cobra.Command {
	var f dryrun.Flags
	var batch string
	cmd := &cobra.Command{
		Use:   "decide --tool NAME --args JSON",
		Short: "decide one call, or a batch of calls",
		Long: `decide says what the policy does with a call: its mode, why, and at which byte of
the arguments that was certain. Nobody is asked: ask and edit are reported.

With --as it answers as that surface would: a hook of a coding agent, which knows the
agent's tools, the project and its files; the MCP gateway; the LLM gateway. --tool is then
the tool's name there, and --tools what the server or the request declares. Without --as
the answer of a surface may differ, because it also knows its own tools, the root
directory of the project and the schema in the request: the answer says which.

A batch is JSON Lines: {"tool","args"|"raw","session","agent","id","result",
"session_data"}, where raw is the argument text as received, a line with a result is a
call that ran, and session_data, an object, sets the session's data before the call.
Its answers are JSON Lines in the same order, whatever --format says.

Exit: 0 unattended, 2 deny or skip, 4 ask or edit, or a judge or an external
policy would be asked, 3 policy mistakes;
a batch: 0 if every line could be read, else 1.`,
		Example: `  stopgate decide --policy stopgate.toml --tool fs_read_file --args '{"path":"src/a.go"}'
  stopgate decide --as claude-code --tool Read --args '{"file_path":".env"}'
  stopgate decide --tool deploy --args '{}' --session-data '{"frozen":true}'
  stopgate decide --tool send_email --args '{"to":"ann@example.com"}' --text 'user=Write to ann@example.com'
  stopgate decide --batch calls.jsonl --format json`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&batch, "batch", "", "decide every line of a JSON Lines `FILE` (- or nothing: standard input)")
	cmd.Flags().Lookup("batch").NoOptDefVal = "-"
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("batch") {
			return decideBatch(cmd, s, &f, batch, args)
		}
		call, err := f.Decide(cmd, s, args)
		if err != nil {
			return err
		}
		if err := format.Print(s.Out, call.Answer, cli.Coloured(s.Out, call.Answer.Text())); err != nil {
			return err
		}
		return call.Answer.Status()
	}
	return cmd
}
