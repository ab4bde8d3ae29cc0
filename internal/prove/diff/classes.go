package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// toolClass is a set of tools to which both files apply the same tables and schemas, so that
// one of them represents all.
type toolClass struct {
	changes []int // in Difference.Changes
	open    []*openNote
}

// openNote is something that was not decided, with the tools it concerns.
type openNote struct {
	why   string
	tools []string
}

// seen compares a tool by the class of it, if another tool of that class was compared and
// the witnesses of it hold for this one too.
func (c *comparer) seen(tool *comparedTool, before, after *sidePolicy) bool {
	var key strings.Builder
	for _, s := range []*sidePolicy{before, after} {
		fmt.Fprintf(&key, "%t %t %d %d ", s.known, s.Applies, s.Params, s.OnSchema)
		for _, t := range s.Tables {
			fmt.Fprintf(&key, "%p ", t)
		}
		if s.Schema != nil {
			key.WriteString(s.Schema.Hash())
		}
	}
	class, ok := c.classes[key.String()]
	if !ok || !c.alike(tool, class) {
		c.class = &toolClass{}
		c.classes[key.String()] = c.class
		return false
	}
	for _, i := range class.changes {
		c.concern(i, tool.name)
	}
	for _, note := range class.open {
		note.concern(string(tool.name))
	}
	return true
}

// alike reports whether the witnesses of a class show the same for another tool.
func (c *comparer) alike(tool *comparedTool, class *toolClass) bool {
	for _, i := range class.changes {
		have := &c.out.Changes[i]
		call := have.Witness
		call.Tool, call.Definition = tool.name, tool.definition
		kind := syntax.RunList
		if have.List == syntax.ResultList.String() {
			kind = syntax.ResultList
		}
		if have.situated || len(have.Supposed) > 0 {
			return false
		}
		if change, _, _ := c.judge(call, noTexts, kind); change.From != have.From || change.To != have.To {
			return false
		}
	}
	return true
}

// concern adds a tool to a change.
func (c *comparer) concern(change int, tool stopgate.ToolName) {
	if have := &c.out.Changes[change]; !slices.Contains(have.Tools, tool) {
		have.Tools = append(have.Tools, tool)
	}
}

// add adds a change, or its tool to one that the same edit makes already.
func (c *comparer) add(change Change) {
	at := slices.IndexFunc(c.out.Changes, func(have Change) bool {
		return have.List == change.List && have.From == change.From && have.To == change.To && have.Edit == change.Edit &&
			have.Note == change.Note && (change.Edit >= 0 || have.Tool == change.Tool)
	})
	if at < 0 {
		at = len(c.out.Changes)
		c.out.Changes = append(c.out.Changes, change)
	}
	c.concern(at, change.Tool)
	if !slices.Contains(c.class.changes, at) {
		c.class.changes = append(c.class.changes, at)
	}
}

// open notes that something was not decided for a tool.
func (c *comparer) open(tool *comparedTool, why string) {
	c.out.Complete = false
	at := slices.IndexFunc(c.opened, func(n *openNote) bool { return n.why == why })
	if at < 0 {
		at = len(c.opened)
		c.opened = append(c.opened, &openNote{why: why})
	}
	c.opened[at].concern(string(tool.name))
	if !slices.Contains(c.class.open, c.opened[at]) {
		c.class.open = append(c.class.open, c.opened[at])
	}
}

func (n *openNote) concern(tool string) {
	if !slices.Contains(n.tools, tool) {
		n.tools = append(n.tools, tool)
	}
}

func (n *openNote) String() string {
	const most = 3
	text := "`" + strings.Join(n.tools[:min(most, len(n.tools))], "`, `") + "`"
	if more := len(n.tools) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": " + n.why
}
