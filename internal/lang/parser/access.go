package parser

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// access reads the access of a tool's table (D25-49).
func (p *parser) access(t *tomltree.Value) *syntax.Access {
	e := t.Get("access")
	if e == nil || !p.table(e) {
		return nil
	}
	p.known(e.Value, accessKeys)
	if command := t.Get("command"); command != nil {
		p.report(diag.BadValue, e.KeyRange, "`access` cannot be enforced on a command, which opens files by itself",
			"judge its arguments with rules, or run it in a sandbox", diag.Related{Range: command.KeyRange, Message: "the command is here"})
	}
	return &syntax.Access{Read: p.accessPaths(e.Value.Get("read")), Write: p.accessPaths(e.Value.Get("write"))}
}

// accessPaths reads an array of paths. It returns nil only if the key is absent.
func (p *parser) accessPaths(e *tomltree.Entry) []string {
	if e == nil {
		return nil
	}
	paths := []string{}
	if e.Value.Kind != tomltree.Array {
		p.wrongType(e, "an array of paths")
		return paths
	}
	for _, v := range e.Value.Elements {
		if v.Kind != tomltree.String {
			p.report(diag.WrongType, v.Range, "`"+e.Key+"` holds paths, not "+v.Kind.String(), "")
			continue
		}
		if !projectItself(v.Text) {
			if wrong := pathname.CheckPathLiteral(condition.Prefix, v.Text, false); wrong != nil {
				at := v.Range
				if wrong.Offset >= 0 {
					at = v.OffsetRange(wrong.Offset)
				}
				message, _, _ := strings.Cut(wrong.Message, ", so the condition")
				p.report(diag.PathLiteral, at, "the path "+tomltree.Quote(v.Text)+" of `"+e.Key+"` "+message, accessHint(v.Text, wrong))
				continue
			}
		}
		paths = append(paths, v.Text)
	}
	return paths
}

// projectItself reports whether a path names the project directory.
func projectItself(path string) bool { return path == "." || path == "./" }

func accessHint(path string, wrong *condition.SpecError) string {
	if path == "" {
		return "`.` is the project"
	}
	return wrong.Hint
}
