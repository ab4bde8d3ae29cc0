package suite

import (
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

type textTable struct {
	Source string          `toml:"source"`
	Tool   string          `toml:"tool"`
	Args   *tomltree.Value `toml:"args"`
	Failed bool            `toml:"failed"`
	Text   *tomltree.Value `toml:"text"`
}

// known are the words of `knows`.
var known = map[string]flow.Knowledge{"user": flow.KnowsUser, "system": flow.KnowsSystem, "results": flow.KnowsResults}

// everything is the knowledge of a case that does not say it.
const everything = flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults

// knows reads the sources whose texts are known completely.
func (r *reader) knows(v *tomltree.Value) flow.Knowledge {
	if v == nil {
		return everything
	}
	if v.Kind != tomltree.Array {
		r.report(diag.WrongType, v.Range, fmt.Sprintf("`knows` must be an array, not %s", v.Kind), "")
	}
	var all flow.Knowledge
	for _, e := range v.Elements {
		one, ok := known[e.Text]
		if e.Kind != tomltree.String || !ok {
			r.report(diag.BadValue, e.Range, "`knows` holds `user`, `system` and `results`", "")
		}
		all |= one
	}
	return all
}

// texts reads [[case.text]] and [[case.call.text]]. Texts with equal words are texts of their own.
func (r *reader) texts(v *tomltree.Value, name string) []gate.Text {
	var list []gate.Text
	for _, t := range r.tables(v, name) {
		var table textTable
		r.mistakes = append(r.mistakes, tomltree.Decode(t, &table)...)
		r.numbered++
		id := "text " + strconv.Itoa(r.numbered)
		var data []byte
		if table.Text == nil {
			r.report(diag.MissingKey, t.Range, "`text` is missing", "")
		} else {
			data = r.json(table.Text)
		}
		switch source := flow.Source(table.Source); {
		case table.Tool != "" && (source == "" || source == flow.Tool):
			args := []byte("{}")
			if table.Args != nil {
				args = r.arguments(table.Args)
			}
			list = append(list, gate.Text{Result: &flow.Result{
				Tool: stopgate.ToolName(table.Tool), Call: stopgate.CallID(id), Args: args, Data: data, Released: true, Failed: table.Failed,
			}})
		case source != flow.User && source != flow.System:
			r.report(diag.BadValue, t.Range, "a text is from `source = \"user\"` or \"system\", or the result of a `tool`", "write source = \"user\"")
		case table.Tool != "" || table.Args != nil || table.Failed:
			r.report(diag.BadValue, t.Range, "a message of the "+table.Source+" is no result of a tool", "leave `source` out for a result")
		case table.Text != nil && table.Text.Kind != tomltree.String:
			r.report(diag.WrongType, table.Text.Range, "a message is a string", "")
		case table.Text != nil:
			list = append(list, gate.Text{Message: &flow.Message{Source: source, Text: []byte(table.Text.Text), ID: id}})
		}
	}
	return list
}

// history is the texts of a case as explanations see them: the gate of the case has its own.
type history struct {
	reader flow.Reader // nil if no rule needs texts
	index  flow.Index
}

func newHistory(reader flow.Reader, known flow.Knowledge) *history {
	h := &history{reader: reader}
	if reader != nil {
		h.index = reader.NewIndex(make([]byte, 32))
		reader.Knows(h.index, known)
	}
	return h
}

func (h *history) view() flow.View {
	if h.reader == nil {
		return nil
	}
	return h.index.View()
}

func (h *history) add(texts []gate.Text) {
	for _, t := range texts {
		switch {
		case h.reader == nil:
		case t.Message != nil:
			h.reader.Message(h.index, t.Message)
		default:
			h.reader.Result(h.index, t.Result)
		}
	}
}

// ran adds a call that was released, and its result if it is delivered.
func (h *history) ran(c *Call, id stopgate.ProposalID, delivered bool) {
	if h.reader == nil {
		return
	}
	h.reader.Call(h.index, c.Call.Tool, c.Args)
	if delivered {
		h.reader.Result(h.index, &flow.Result{
			Tool: c.Call.Tool, Call: c.Call.ID, Proposal: id, Args: c.Args, Data: c.Result, Released: true, Failed: c.Failed,
		})
	}
}
