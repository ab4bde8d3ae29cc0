package amend

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// insert adds the rule to the list in the list's form.
func (c *Change) insert(list *syntax.RuleList, rule string, at int) error {
	start, end := list.Pos.Start.Offset, list.Pos.End.Offset
	value := string(c.Text[start:end])
	switch {
	case list.Alias:
		// run = "ask" is one rule without a condition.
		c.splice(start, end, c.array(start, []string{rule, "{ mode = " + value + " }"}))
	case c.tables(list):
		return c.table(list, rule, at)
	case !strings.HasPrefix(value, "["):
		return ErrForm
	case len(list.Rules) == 0:
		c.splice(start, end, c.array(start, []string{rule}))
	case at == End:
		c.last(list.Rules[len(list.Rules)-1], rule)
	default:
		c.before(list.Rules[at].Pos.Start.Offset, start, rule)
	}
	return nil
}

// tables reports whether a list is written as [[tables]].
func (c *Change) tables(list *syntax.RuleList) bool {
	at := list.Pos.Start.Offset
	return bytes.HasPrefix(bytes.TrimLeft(c.Text[lineStart(c.Text, at):], " \t"), []byte("[["))
}

func (c *Change) splice(start, end int, text string) {
	c.Text = append(append(bytes.Clone(c.Text[:start]), text...), c.Text[end:]...)
}

// array returns a list to replace a word: on lines of its own if the key begins its line.
func (c *Change) array(at int, rules []string) string {
	line := string(c.Text[lineStart(c.Text, at):at])
	if strings.ContainsAny(line, "{[") {
		return "[" + strings.Join(rules, ", ") + "]"
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return "[\n" + indent + "  " + strings.Join(rules, ",\n"+indent+"  ") + ",\n" + indent + "]"
}

// before adds the rule before another one of an array; the comments above that one stay with it.
func (c *Change) before(other, list int, rule string) {
	start := lineStart(c.Text, other)
	indent := string(c.Text[start:other])
	if strings.TrimSpace(indent) != "" || start <= list {
		c.splice(other, other, rule+", ")
		return
	}
	for start > list {
		above := lineStart(c.Text, start-1)
		if above <= list || !bytes.HasPrefix(bytes.TrimSpace(c.Text[above:start]), []byte("#")) {
			break
		}
		start = above
	}
	c.splice(start, start, indent+rule+",\n")
}

// last adds the rule after the last one of an array.
func (c *Change) last(other *syntax.Rule, rule string) {
	begin, end := other.Pos.Start.Offset, other.Pos.End.Offset
	indent := string(c.Text[lineStart(c.Text, begin):begin])
	rest := c.Text[end:]
	line := rest
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		line = rest[:i]
	}
	trimmed := bytes.TrimLeft(line, " \t")
	comma := bytes.HasPrefix(trimmed, []byte(","))
	trimmed = bytes.TrimLeft(bytes.TrimPrefix(trimmed, []byte(",")), " \t")
	if strings.TrimSpace(indent) != "" || len(trimmed) > 0 && trimmed[0] != '#' {
		c.splice(end, end, ", "+rule)
		return
	}
	c.splice(end+len(line), end+len(line), "\n"+indent+rule+",")
	if !comma {
		c.splice(end, end, ",")
	}
}

// table adds the rule to a list that is written as [[tables]].
func (c *Change) table(list *syntax.RuleList, rule string, at int) error {
	added, err := rulesOf(rule)
	if err != nil {
		return err
	}
	header := strings.TrimSpace(string(c.Text[lineStart(c.Text, list.Pos.Start.Offset):lineEnd(c.Text, list.Pos.Start.Offset)]))
	header, _, _ = strings.Cut(header, "#")
	header = strings.TrimSpace(header) + "\n"
	lines := make([]string, len(added))
	for i, r := range added {
		lines[i] = header + strings.Join(r.Lines(), "\n") + "\n"
	}
	tables := strings.Join(lines, "\n")
	if at == End {
		start := lineEnd(c.Text, list.Rules[len(list.Rules)-1].Pos.Start.Offset)
		for start < len(c.Text) && !bytes.HasPrefix(bytes.TrimLeft(c.Text[start:], " \t\n"), []byte("[")) {
			start = lineEnd(c.Text, start)
		}
		if start < len(c.Text) {
			start = c.comments(start)
			c.splice(start, start, tables+"\n")
			return nil
		}
		c.splice(start, start, "\n"+tables)
		return nil
	}
	start := c.comments(lineStart(c.Text, list.Rules[at].Pos.Start.Offset))
	c.splice(start, start, tables+"\n")
	return nil
}

// comments returns the start of the comments directly above a line.
func (c *Change) comments(start int) int {
	for start > 0 {
		above := lineStart(c.Text, start-1)
		if !bytes.HasPrefix(bytes.TrimSpace(c.Text[above:start]), []byte("#")) {
			break
		}
		start = above
	}
	return start
}

// lineStart returns the start of the line of an offset, lineEnd that of the next one.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
