package dryrun

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/trial"
)

// textFlags describe the texts of the conversation before a call.
type textFlags struct {
	Texts     []string
	TextsFile string
}

func (f *textFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Texts, "text", nil, "a text of the conversation before the call, `SOURCE=TEXT`: user=, system=, or tool:NAME= for a result; repeatable, in order (default: the texts are not known)")
	flags.StringVar(&f.TextsFile, "texts", "", `read texts from a JSON Lines `+"`FILE`"+`: {"source":"user","text"}, or {"tool","args","text","failed"}; before those of --text`)
}

// given reports whether the flags describe a conversation.
func (f *textFlags) given() bool { return len(f.Texts) > 0 || f.TextsFile != "" }

// read returns the texts in their order.
func (f *textFlags) read() (list []gate.Text, err error) {
	if f.TextsFile != "" {
		text, err := config.ReadFile(f.TextsFile, inputs.MaxLine)
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			one, err := trial.ParseText(line)
			if err != nil {
				return nil, cli.Usagef("--texts %s, line %d: %w", f.TextsFile, i+1, err)
			}
			list = append(list, one)
		}
	}
	for _, given := range f.Texts {
		source, text, ok := strings.Cut(given, "=")
		tool, result := strings.CutPrefix(source, "tool:")
		switch {
		case ok && result && tool != "":
			list = append(list, trial.ResultText(tool, []byte("{}"), []byte(text), false))
		case ok && (source == string(flow.User) || source == string(flow.System)):
			list = append(list, gate.Text{Message: &flow.Message{Source: flow.Source(source), Text: []byte(text)}})
		default:
			return nil, cli.Usagef("--text %q: write user=TEXT, system=TEXT, or tool:NAME=TEXT for a result", given)
		}
	}
	trial.Distinguish(list, "text ")
	return list, nil
}
