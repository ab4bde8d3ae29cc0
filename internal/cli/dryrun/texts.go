package dryrun

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// everything is the knowledge of a conversation that flags describe completely.
const everything = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

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
			one, err := ParseText(line)
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
			list = append(list, resultText(tool, []byte("{}"), []byte(text), false))
		case ok && (source == string(flow.User) || source == string(flow.System)):
			list = append(list, gate.Text{Message: &flow.Message{Source: flow.Source(source), Text: []byte(text)}})
		default:
			return nil, cli.Usagef("--text %q: write user=TEXT, system=TEXT, or tool:NAME=TEXT for a result", given)
		}
	}
	Distinguish(list, "text ")
	return list, nil
}

// Distinguish gives texts ids, so that equal ones are texts of their own.
func Distinguish(list []gate.Text, prefix string) {
	for i := range list {
		id := prefix + strconv.Itoa(i+1)
		if m := list[i].Message; m != nil {
			m.ID = id
		} else {
			list[i].Result.Call = stopgate.CallID(id)
		}
	}
}

// resultText is the result of a call that ran.
func resultText(tool string, args, data []byte, failed bool) gate.Text {
	return gate.Text{Result: &flow.Result{Tool: stopgate.ToolName(tool), Args: args, Data: data, Released: true, Failed: failed}}
}

// ParseText reads a text as --texts and batches have it: {"source","text"} or {"tool","args","text","failed"}.
func ParseText(line []byte) (one gate.Text, err error) {
	root, err := jsonstream.Parse(line, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return one, err
	}
	var source, tool string
	var text []byte
	args, failed, seen := []byte("{}"), false, false
	for key, v := range root.Members() {
		ok := v.Kind() == jsonstream.String
		switch key.Text() {
		case "source":
			source = v.Text()
		case "tool":
			tool = v.Text()
		case "text":
			if text, seen = v.Raw(), true; ok {
				text = v.AppendText(nil)
			}
			ok = true // a structured result may be JSON itself
		case "args":
			args, ok = v.Raw(), v.Kind() == jsonstream.Object
		case "failed":
			failed, ok = v.Kind() == jsonstream.True, v.Kind() == jsonstream.True || v.Kind() == jsonstream.False
		default:
			return one, fmt.Errorf("there is no member %q; there are source, tool, args, text and failed", key.Text())
		}
		if !ok {
			return one, fmt.Errorf("%s has another type", key.Text())
		}
	}
	message := source == string(flow.User) || source == string(flow.System)
	switch {
	case !seen:
		return one, fmt.Errorf("text is missing")
	case tool != "" && (source == "" || source == string(flow.Tool)):
		return resultText(tool, args, text, failed), nil
	case message && tool == "":
		return gate.Text{Message: &flow.Message{Source: flow.Source(source), Text: text}}, nil
	}
	return one, fmt.Errorf(`a text has "source" user or system, or it is the result of a "tool"`)
}

// AddTexts adds texts to the session of a call, of which all texts are known; first reports that they
// are its first ones.
func (j Decider) AddTexts(ctx context.Context, call *stopgate.Call, list []gate.Text, first bool) error {
	at := session.Owner{Principal: call.Principal, Session: call.Session}
	return j.Gate.AddTexts(ctx, at, call.Conversation, gate.Texts{Known: everything, Whole: first, List: list})
}

// viewOf returns the view of some texts as rules see it, nil if no rule needs texts.
func viewOf(reader flow.Reader, list []gate.Text) flow.View {
	if reader == nil {
		return nil
	}
	x := reader.NewIndex(make([]byte, 32))
	reader.Knows(x, everything)
	for _, t := range list {
		if t.Message != nil {
			reader.Message(x, t.Message)
		} else {
			reader.Result(x, t.Result)
		}
	}
	return x.View()
}
