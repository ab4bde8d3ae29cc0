// Package diff compares two policy files: which edits of rules, guards, lists and parameters move
// which calls from one mode to another, with a call that shows each.
//
//	d, old, new := diff.Files(before, after, policy.Options{}, nil)
//
// Guarantees:
//
//   - Both programs were asked about every witness.
//   - A complete difference misses no call that the two files decide with different modes. Open
//     questions are listed.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package diff

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/schema"
)

// Direction is whether a change loosens or tightens the verdict on a call.
type Direction string

// The directions of a change.
const (
	Loosened  Direction = "loosened"
	Tightened Direction = "tightened"
)

// RulePlace is the rule or guard that decides a call in one of two compared files.
type RulePlace struct {
	File string `json:"file"`
	Line int    `json:"line"`
	// Index is the position in its list, from 0; -1 if no rule matched. Guard reports
	// that it is a guard and not a rule.
	Index int    `json:"index"`
	Guard bool   `json:"guard,omitempty"`
	Text  string `json:"text,omitempty"` // the rule in canonical form
}

// Change is the effect of one edit: it moves calls from one mode to another.
type Change struct {
	// Tool is that of the witness; Tools are all tools that the edit moves calls of so.
	Tool  stopgate.ToolName   `json:"tool"`
	Tools []stopgate.ToolName `json:"tools"`
	// Edit is the place in [Difference.Edits], -1 where no rule or guard was edited.
	Edit      int           `json:"edit"`
	List      string        `json:"list"` // "run" or "result"
	From      stopgate.Mode `json:"-"`
	To        stopgate.Mode `json:"-"`
	Direction Direction     `json:"direction"`
	// Witness is a shortest such call, with the facts that it needs.
	Witness stopgate.Call `json:"-"`
	// Old and New decide it, nil where the verdict has no rule: a tool that the file
	// does not know, a setting.
	Old, New *RulePlace `json:"-"`
	// Note is the reason where no rule decides: "unknown tool", or the code of a floor.
	Note string `json:"note,omitempty"`

	// Supposed are sentences on where the values of the witness come from.
	Supposed []string `json:"supposed,omitempty"`

	situated bool // the witness needs data of a session
}

// Difference is the result of a comparison.
type Difference struct {
	Changes []Change
	// Sessions are changes of session policies.
	Sessions []SessionChange
	// Edits are the edited rules, guards, lists and parameters.
	Edits []*Edit
	// Complete reports that every call which the two files decide with different modes is
	// moved by one of the changes' edits, in the direction of one of its changes. Equal
	// policies have no changes and are complete: they are proved equal.
	Complete bool
	// Same reports that the files are equal except for order and comments: then they decide
	// every call alike, however it is written.
	Same bool
	// Open describes the parts that could not be compared.
	Open []string
	// Assumed are the directories that paths were read against and that neither the files nor
	// the options name: "home /home/q7w9".
	Assumed []string
	// Tools is how many tools, and kinds of tools, were compared.
	Tools int
}

// Files lists the changes of every edit of a rule, a guard or a list: from which mode to
// which, for which tools, with a witness that both programs have decided. Values are plainly
// written and fit the schemas. Protected targets, whose floor is the same in both files, are
// only used if a cell has no other values. Both files count as the operator's. old and new
// are the mistakes of the files; the difference is nil if one of them is an error.
func Files(before, after policy.Source, o policy.Options, progress func(done, of int)) (d *Difference, old, new diag.List) {
	return difference(before, after, o, progress, func(stopgate.ToolName) bool { return true })
}

// Tool is Files for one tool: for a change that cannot reach others.
func Tool(before, after policy.Source, tool stopgate.ToolName, o policy.Options) (d *Difference, old, new diag.List) {
	return difference(before, after, o, nil, func(other stopgate.ToolName) bool { return other == tool })
}

func difference(before, after policy.Source, o policy.Options, progress func(done, of int), compared func(stopgate.ToolName) bool) (d *Difference, old, new diag.List) {
	before.Trusted, after.Trusted = true, true
	o.Strict = false
	assumed := assume(&o, before.Text, after.Text)
	p, old := policy.Compile([]policy.Source{before}, o)
	q, new := policy.Compile([]policy.Source{after}, o)
	if p == nil || q == nil {
		return nil, old, new
	}
	c := &comparer{before: p, after: q, options: o, out: &Difference{Complete: true, Assumed: assumed}, classes: make(map[string]*toolClass),
		bindings: make(map[bindingKey]*eval.Binding), memory: &symbolic.Memory{}}
	c.out.Same = p.Hash() == q.Hash()
	if bytes.Equal(before.Text, after.Text) {
		return c.out, old, new
	}
	c.edits = newEdits(fileOf(p), fileOf(q))
	c.settings()
	tools := c.tools()
	for i, tool := range tools {
		if progress != nil {
			progress(i, len(tools))
		}
		if compared(tool.name) {
			c.tool(tool)
		}
	}
	c.out.Edits = c.edits.list
	for _, note := range c.opened {
		c.out.Open = append(c.out.Open, note.String())
	}
	slices.SortStableFunc(c.out.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.List, b.List))
	})
	return c.out, old, new
}

// comparer compares two programs of one file each.
type comparer struct {
	before, after *policy.Program
	options       policy.Options
	out           *Difference
	edits         *edits
	classes       map[string]*toolClass
	class         *toolClass // of the tool that is compared
	opened        []*openNote
	bindings      map[bindingKey]*eval.Binding
	memory        *symbolic.Memory
}

// fileOf is the only file of a program.
func fileOf(p *policy.Program) *syntax.File { return p.Layers()[0].File }

// sidePolicy is a file as the comparer sees it for one tool.
type sidePolicy struct {
	*eval.ToolPolicy
	known bool // the tool's calls are judged by their arguments
}

func (c *comparer) side(p *policy.Program, tool *comparedTool) *sidePolicy {
	voices, known := p.ToolPolicies(stopgate.Call{Tool: tool.name, Definition: tool.definition})
	s := &sidePolicy{ToolPolicy: &eval.ToolPolicy{Layer: p.Layers()[0]}, known: known}
	if len(voices) > 0 && voices[0].Applies {
		s.ToolPolicy = voices[0]
	}
	return s
}

// tool compares the policies of two files for one tool.
func (c *comparer) tool(tool *comparedTool) {
	c.out.Tools++
	before, after := c.side(c.before, tool), c.side(c.after, tool)
	if c.seen(tool, before, after) {
		return
	}
	if !before.Applies && !after.Applies && len(before.File.Guards)+len(after.File.Guards) == 0 {
		c.unknownTool(tool)
		return
	}
	if !before.known || !after.known {
		if before.known != after.known {
			c.newTool(tool, before, after)
		} else {
			c.unknownTool(tool)
		}
		return
	}
	if before.Params != after.Params || before.OnSchema != after.OnSchema || before.Uncovered != after.Uncovered {
		c.open(tool, "`unknown_params`, `uncovered` or `on_schema_violation` changes, which no pair of rules shows")
	}
	for _, kind := range []syntax.ListKind{syntax.RunList, syntax.ResultList} {
		c.list(tool, kind, before, after)
	}
}

// list compares the lists of one kind.
func (c *comparer) list(tool *comparedTool, kind syntax.ListKind, before, after *sidePolicy) {
	shared := before.Schema
	if shared == nil {
		shared = after.Schema
	}
	var bound [2]*boundPolicy
	sides := [2]*sidePolicy{before, after}
	for i, s := range sides {
		b, ok := c.bind(s, tool, kind)
		if !ok {
			c.open(tool, "the rules do not fit the tool's schema")
			return
		}
		bound[i] = b
	}
	e := c.editsOf(bound)
	c.parameters(tool, kind, before, after, bound, e)
	if len(e.numbers) == 0 && bound[0].end == bound[1].end {
		return
	}
	if kind == syntax.RunList {
		c.coverage(tool, before, after, bound, e)
	}
	exact := c.compare(tool, kind, bound, sides, e, shared, false)
	if slices.ContainsFunc(bound[:], (*boundPolicy).namesGroups) {
		exact = c.compare(tool, kind, bound, sides, e, shared, true) && exact
	}
	if !exact {
		(&listComparison{comparer: c, tool: tool, kind: kind, e: e}).undecided()
	}
}

// namesGroups reports whether a rule or guard has a condition on groups.
func (b *boundPolicy) namesGroups() bool {
	return slices.ContainsFunc(b.rules, symbolic.NamesGroups) || slices.ContainsFunc(b.guards, symbolic.NamesGroups)
}

// compare compares the lists of one kind for calls whose groups are known, or not. It reports
// whether every change was found.
func (c *comparer) compare(tool *comparedTool, kind syntax.ListKind, bound [2]*boundPolicy, from [2]*sidePolicy, e *toolEdits, shared *schema.Schema, groupsUnknown bool) (exact bool) {
	t := symbolic.New(c.before.Layers()[0].Env, shared)
	t.Keyed, t.Welcome, t.GroupsUnknown = true, symbolic.Unprotected(c.before.Layers()[0].Protected), groupsUnknown
	sides := [2]*analysis.Policy{}
	for i, s := range from {
		t.Schema, t.Env = s.Schema, s.Env
		sides[i] = policyOf(t, bound[i])
	}
	t.Schema = shared
	if t.Mixed {
		c.open(tool, "rules ask about the presence of one of several command lines")
	}
	for i := range sides {
		sides[i].Edits, sides[i].GuardEdits, sides[i].EndEdited = e.rules[i], e.guards[i], bound[0].end != bound[1].end
	}
	list := t.Space()
	lists := &listComparison{c, tool, kind, t, e}
	meet := refusalsMeet(bound) && e.refuses()
	confirm := func(cell analysis.Cell) bool {
		change, ok := c.confirm(tool, kind, t, cell, bound)
		if ok {
			c.add(change)
			e.found(&change)
		}
		return !ok && !(meet && lists.orders(cell.Witness))
	}
	commands := bound[0].commands || bound[1].commands
	if commands {
		for _, n := range e.numbers {
			e.all[n].Bounded = true
		}
		lists.sampled()
	}
	if !commands || !e.onlyCommands() {
		exact = analysis.Compare(list, sides[0], sides[1], analysis.Budget{Cells: maxCells}, confirm).Complete && !commands
	}
	if meet && lists.refusals(list, sides) {
		exact = false
	}
	return exact
}

// listComparison compares the lists of one kind for one tool.
type listComparison struct {
	*comparer
	tool *comparedTool
	kind syntax.ListKind
	t    *symbolic.Translation
	e    *toolEdits
}

// maxCells bounds the pairs of deciding rules that are compared for one list of a tool.
const maxCells = 2_000_000

// confirm asks both programs about a witness.
func (c *comparer) confirm(tool *comparedTool, kind syntax.ListKind, t *symbolic.Translation, cell analysis.Cell, bound [2]*boundPolicy) (Change, bool) {
	args, ok := t.Document(cell.Witness)
	if !ok {
		return Change{}, false
	}
	change, _, differs := c.ask(tool, kind, t, cell.Witness, args)
	change.Old, change.New, change.Edit = bound[0].place(cell.Old), bound[1].place(cell.New), max(cell.Edit, unpaired)
	return change, differs
}

// ask asks both programs about a call with the facts of a witness.
func (c *comparer) ask(tool *comparedTool, kind syntax.ListKind, t *symbolic.Translation, witness []analysis.Choice, args []byte) (change Change, verdicts [2]stopgate.Verdict, differs bool) {
	call := stopgate.Call{Tool: tool.name, Definition: tool.definition, Args: args}
	t.Facts(&call, witness)
	return c.judge(call, session{t.Situation(witness), t.Texts(witness, args)}, kind)
}

// session is the session of a call that programs are asked about: the result of conditions on its
// data, and its texts.
type session struct {
	situation eval.Situation
	texts     *symbolic.Supposed
}

// noTexts is a session in which no text was read.
var noTexts = session{texts: symbolic.NoTexts()}

// judge asks both programs about a call.
func (c *comparer) judge(call stopgate.Call, in session, kind syntax.ListKind) (change Change, verdicts [2]stopgate.Verdict, differs bool) {
	from, to := c.verdict(c.before, call, in, kind), c.verdict(c.after, call, in, kind)
	change = Change{
		Tool: call.Tool, Tools: []stopgate.ToolName{call.Tool}, Edit: unpaired, List: kind.String(),
		From: from.Mode, To: to.Mode, Witness: call, Direction: directionOf(from.Mode, to.Mode), Supposed: in.texts.Sentences(), situated: in.situation != eval.Situation{},
	}
	return change, [2]stopgate.Verdict{from, to}, from.Mode != to.Mode
}

// decidedBy sets the rules that decide a call before and after, or the codes of floors that do.
func (change *Change) decidedBy(bound [2]*boundPolicy, verdicts [2]stopgate.Verdict) {
	change.Old, change.New = bound[0].deciderOf(verdicts[0]), bound[1].deciderOf(verdicts[1])
	for i, rule := range []*RulePlace{change.Old, change.New} {
		if rule == nil {
			change.Note = strings.TrimSpace(change.Note + " " + string(verdicts[i].Code))
		}
	}
}

func directionOf(from, to stopgate.Mode) Direction {
	if stopgate.Strictest(from, to) == from {
		return Loosened
	}
	return Tightened
}
