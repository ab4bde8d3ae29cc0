package trial

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// everything is the knowledge of a conversation that flags describe completely.
const everything = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

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

// ResultText is the result of a call that ran.
func ResultText(tool string, args, data []byte, failed bool) gate.Text {
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
		return ResultText(tool, args, text, failed), nil
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

// ViewOf returns the view of some texts as rules see it, nil if no rule needs texts.
func ViewOf(reader flow.Reader, list []gate.Text) flow.View {
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
