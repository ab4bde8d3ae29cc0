package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
)

// allTexts are the sources whose texts the agent reports completely. The results of calls become
// texts when they are observed.
const allTexts = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

// reportPrompt adds the newest message of the person to the texts of the session, the first time after
// the system prompt. After an error the gate is in doubt about the origin of values.
func (a *Agent) reportPrompt(ctx context.Context, text string) {
	if !a.Gate.ReadsTexts() {
		return
	}
	t := gate.Texts{List: []gate.Text{textOf(flow.User, text)}}
	if !a.reported {
		t.List = append([]gate.Text{textOf(flow.System, a.System)}, t.List...)
	}
	if len(a.entries) == 2 { // the beginning, and this message
		t.Whole, t.Known = true, allTexts
	}
	err := a.Gate.AddTexts(ctx, a.Owner, "", t)
	if errors.Is(err, gate.ErrTextsLost) {
		err = a.Gate.AddTexts(ctx, a.Owner, "", gate.Texts{List: a.texts(), Whole: true, Known: allTexts})
	}
	if err != nil {
		a.Watch.Notice(fmt.Sprintf("rules on the origin of values are in doubt: %v", err))
		return
	}
	a.reported = true
}

func textOf(source flow.Source, text string) gate.Text {
	return gate.Text{Message: &flow.Message{Source: source, Text: []byte(text)}}
}

// texts are all texts of the conversation, from its log. Results of calls that did not run are none.
func (a *Agent) texts() []gate.Text {
	list := []gate.Text{textOf(flow.System, a.System)}
	var parts []conversation.Part
	ran := map[int]string{} // the arguments of the calls of the latest response that ran
	for _, e := range a.entries {
		switch e.Kind {
		case conversation.User:
			list = append(list, textOf(flow.User, e.Text))
		case conversation.Reply:
			parts = e.Parts
			clear(ran)
		case conversation.Started:
			if e.Call < len(parts) {
				ran[e.Call] = parts[e.Call].Args
				if e.Args != "" {
					ran[e.Call] = e.Args
				}
			}
		case conversation.Result:
			args, ok := ran[e.Call]
			if !ok {
				continue
			}
			p := parts[e.Call]
			list = append(list, gate.Text{Result: &flow.Result{
				Tool: stopgate.ToolName(p.Tool), Call: stopgate.CallID(p.ID), Args: []byte(args), Data: []byte(e.Text), Released: true, Failed: e.Failed,
			}})
		}
	}
	return list
}
