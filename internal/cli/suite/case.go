package suite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Case is one or several calls of one session.
type Case struct {
	Name  string
	Line  int
	Calls []Call
	// Known are the sources whose texts are known completely.
	Known flow.Knowledge
}

// Call is a call of a case with its expectations.
type Call struct {
	Call stopgate.Call
	Args []byte
	Line int
	// Ran is set if the call ran, with an approval if the policy asks; Failed and Result are its
	// result.
	Ran, Failed bool
	Result      []byte
	// Data are the session's data from this call on, nil for no change.
	Data []byte
	// Texts are those of the conversation since the call before.
	Texts []gate.Text

	want []want
}

// want is one expectation.
type want struct{ field, value string }

// caseTable is [[case]]; a case of one call is written without [[case.call]].
type caseTable struct {
	Name      string          `toml:"name,required"`
	Agent     string          `toml:"agent"`
	Principal string          `toml:"principal"`
	Group     *tomltree.Value `toml:"group"`
	Server    string          `toml:"server"`
	Surface   string          `toml:"surface"`
	Calls     *tomltree.Value `toml:"call"`
	Knows     *tomltree.Value `toml:"knows"`
	callTable
}

// callTable is [[case.call]].
type callTable struct {
	Tool         string          `toml:"tool"`
	Args         *tomltree.Value `toml:"args"`
	Result       *tomltree.Value `toml:"result"`
	Failed       bool            `toml:"failed"`
	SessionData  *tomltree.Value `toml:"session_data"`
	Texts        *tomltree.Value `toml:"text"`
	Expect       *stopgate.Mode  `toml:"expect"`
	Code         string          `toml:"code"`
	Layer        string          `toml:"layer"`
	Rule         *int            `toml:"rule"`
	Line         *int            `toml:"line"`
	Pointer      *string         `toml:"pointer"`
	DecidedAt    *int            `toml:"decided_at"`
	Public       string          `toml:"public"`
	ExpectResult *stopgate.Mode  `toml:"expect_result"`
}

// reader collects the mistakes of a file of cases.
type reader struct {
	file     string
	mistakes diag.List
	numbered int // texts
}

func (r *reader) report(code diag.Code, at diag.Range, message, hint string) {
	r.mistakes.Add(diag.Diagnostic{Code: code, File: r.file, Range: at, Message: message, Hint: hint})
}

// tables returns the elements of an array of tables.
func (r *reader) tables(v *tomltree.Value, name string) []*tomltree.Value {
	if v == nil {
		return nil
	}
	if v.Kind != tomltree.Array {
		r.report(diag.WrongType, v.Range, fmt.Sprintf("`%s` must be an array of tables, not %s", name, v.Kind), "write `[["+name+"]]`")
		return nil
	}
	return v.Elements
}

func (r *reader) cases(v *tomltree.Value, tools []stopgate.ToolDefinition) []Case {
	var list []Case
	for _, t := range r.tables(v, "case") {
		var table caseTable
		r.mistakes = append(r.mistakes, tomltree.Decode(t, &table)...)
		c := Case{Name: table.Name, Line: t.Range.Start.Line, Known: r.knows(table.Knows)}
		facts := stopgate.Call{
			Session: "test", Agent: stopgate.AgentName(table.Agent), Principal: stopgate.Principal(table.Principal), Groups: r.groups(table.Group),
			Server: stopgate.ServerID(table.Server), Surface: stopgate.Surface(table.Surface),
		}
		if facts.Surface == "" {
			facts.Surface = stopgate.SurfaceDecide
		}
		if table.Calls == nil {
			call := r.call(t, table.callTable, facts, tools)
			call.Texts = r.texts(table.Texts, "case.text")
			c.Calls = append(c.Calls, call)
		} else if table.Tool != "" {
			r.report(diag.BadValue, t.Get("tool").KeyRange, "`tool` and `[[case.call]]` exclude each other", "move it into a call")
		}
		for _, each := range r.tables(table.Calls, "case.call") {
			var inner callTable
			r.mistakes = append(r.mistakes, tomltree.Decode(each, &inner)...)
			call := r.call(each, inner, facts, tools)
			call.Texts = r.texts(inner.Texts, "case.call.text")
			c.Calls = append(c.Calls, call)
		}
		if table.Calls != nil && table.SessionData != nil && len(c.Calls) > 0 && c.Calls[0].Data == nil {
			c.Calls[0].Data = r.json(table.SessionData)
		}
		if table.Calls != nil && len(c.Calls) > 0 {
			c.Calls[0].Texts = append(r.texts(table.Texts, "case.text"), c.Calls[0].Texts...)
		}
		list = append(list, c)
	}
	return list
}

// groups reads a name, or an array of names. Without the key the groups are not known.
func (r *reader) groups(v *tomltree.Value) stopgate.Groups {
	if v == nil {
		return stopgate.Groups{}
	}
	list := v.Elements
	if v.Kind == tomltree.String {
		list = []*tomltree.Value{v}
	} else if v.Kind != tomltree.Array {
		r.report(diag.WrongType, v.Range, fmt.Sprintf("`group` must be a name or an array of names, not %s", v.Kind), "")
	}
	var names []string
	for _, e := range list {
		if e.Kind != tomltree.String {
			r.report(diag.WrongType, e.Range, fmt.Sprintf("`group` holds names, not %s", e.Kind), "")
			continue
		}
		names = append(names, e.Text)
	}
	groups, err := stopgate.GroupsOf(names...)
	if err != nil {
		r.report(diag.BadValue, v.Range, err.Error(), "")
	}
	return groups
}

func (r *reader) call(t *tomltree.Value, table callTable, call stopgate.Call, tools []stopgate.ToolDefinition) Call {
	call.Tool = stopgate.ToolName(table.Tool)
	for i := range tools {
		if tools[i].Name == call.Tool {
			call.Definition = &tools[i]
		}
	}
	c := Call{Call: call, Args: []byte("{}"), Line: t.Range.Start.Line, Failed: table.Failed, want: table.wants()}
	c.Ran = table.Result != nil || table.Failed
	if table.Tool == "" {
		r.report(diag.MissingKey, t.Range, "the case does not say which `tool` is called", "")
	}
	if table.Args != nil {
		c.Args = r.arguments(table.Args)
	}
	if table.Result != nil {
		c.Result = r.json(table.Result)
	}
	switch d := table.SessionData; {
	case d == nil:
	case d.Kind == tomltree.Table:
		c.Data = r.json(d)
	default:
		r.report(diag.WrongType, d.Range, fmt.Sprintf("`session_data` must be a table, not %s", d.Kind), "write `session_data = { mode = \"...\" }`")
	}
	if !c.Ran && len(c.want) == 0 && t.Get("expect") == nil {
		r.report(diag.MissingKey, t.Range, "the case expects nothing", "write `expect = \"deny\"`, or for a call that only happens, its `result`")
	}
	if !c.Ran && table.ExpectResult != nil {
		r.report(diag.BadValue, t.Get("expect_result").KeyRange, "`expect_result` is about the `result` of a call that ran", "write what the tool returned: `result = \"\"`")
	}
	r.words(t, table)
	return c
}

// arguments reads a table, or the text of arguments.
func (r *reader) arguments(v *tomltree.Value) []byte {
	switch v.Kind {
	case tomltree.String:
		return []byte(v.Text)
	case tomltree.Table:
		return r.json(v)
	}
	r.report(diag.WrongType, v.Range, fmt.Sprintf("`args` must be a table, or the argument text as a string, not %s", v.Kind), "")
	return []byte("{}")
}

// words checks codes and layers, so that a misspelled one is not mistaken for a failed test.
func (r *reader) words(t *tomltree.Value, table callTable) {
	if table.Code != "" && !stopgate.Code(table.Code).Valid() {
		r.report(diag.BadValue, t.Get("code").Value.Range, fmt.Sprintf("there is no reason code %q", table.Code), "docs/reference/codes.md lists them")
	}
	if table.Layer == "" {
		return
	}
	layers := []string{}
	for _, l := range []stopgate.Layer{
		stopgate.LayerIntegrity, stopgate.LayerGate, stopgate.LayerSession, stopgate.LayerFloor, stopgate.LayerGuard,
		stopgate.LayerRules, stopgate.LayerJudge, stopgate.LayerApproval, stopgate.LayerFailure,
	} {
		layers = append(layers, string(l))
		if table.Layer == string(l) {
			return
		}
	}
	r.report(diag.BadValue, t.Get("layer").Value.Range, fmt.Sprintf("there is no layer %q", table.Layer), diag.DidYouMean(table.Layer, layers)+" (possible: "+strings.Join(layers, ", ")+")")
}

func (r *reader) json(v *tomltree.Value) []byte {
	text, wrong := parser.JSON(v)
	r.mistakes = append(r.mistakes, wrong...)
	return text
}

// wants returns the expectations of a table, in the order in which they are compared.
func (t *callTable) wants() []want {
	var list []want
	add := func(field, value string) {
		if value != "" {
			list = append(list, want{field, value})
		}
	}
	number := func(field string, n *int) {
		if n != nil {
			add(field, strconv.Itoa(*n))
		}
	}
	if t.Expect != nil {
		add("expect", t.Expect.String())
	}
	add("code", t.Code)
	add("layer", t.Layer)
	number("rule", t.Rule)
	number("line", t.Line)
	if t.Pointer != nil {
		list = append(list, want{"pointer", *t.Pointer})
	}
	number("decided_at", t.DecidedAt)
	add("public", t.Public)
	if t.ExpectResult != nil {
		add("expect_result", t.ExpectResult.String())
	}
	return list
}
