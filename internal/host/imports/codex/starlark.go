package codex

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"go.starlark.net/syntax"
)

// call is a call of a rules file: prefix_rule(pattern = [...], ...).
type call struct {
	name string
	line int
	text string // as written
	args map[string]value
}

// value is a string, or a list. The zero value is None.
type value struct {
	text   string
	list   []value
	isText bool
	isList bool
}

// maxRulesFile is the maximum size of a rules file in bytes.
const maxRulesFile = 1 << 20

var (
	errOnlyCalls  = errors.New("only calls such as prefix_rule(...) can be read")
	errOnlyValues = errors.New("unsupported value: only strings and lists of strings are supported")
)

// calls parses the part of Starlark that rules files use: calls at the top level whose arguments
// are named strings and lists. Other syntax could create deny rules, so it is an error.
func calls(f draft.File) (list []call, err error) {
	if len(f.Text) > maxRulesFile {
		return nil, &draft.Error{File: f.Name, Message: fmt.Sprintf("larger than %d bytes", maxRulesFile)}
	}
	parsed, err := new(syntax.FileOptions).Parse(f.Name, f.Text, 0)
	var mistake syntax.Error
	switch {
	case errors.As(err, &mistake) && strings.HasSuffix(mistake.Msg, "in string"):
		return nil, &draft.Error{File: f.Name, Line: int(mistake.Pos.Line), Message: "a string has no end: " + mistake.Msg}
	case errors.As(err, &mistake):
		return nil, &draft.Error{File: f.Name, Line: int(mistake.Pos.Line), Message: mistake.Msg}
	case err != nil:
		return nil, &draft.Error{File: f.Name, Message: err.Error()}
	}
	for _, s := range parsed.Stmts {
		start, end := s.Span()
		c := call{line: int(start.Line), text: written(f.Text, start, end), args: map[string]value{}}
		if err := c.read(s); err != nil {
			return nil, &draft.Error{File: f.Name, Line: c.line, Message: err.Error()}
		}
		list = append(list, c)
	}
	return list, nil
}

func (c *call) read(s syntax.Stmt) error {
	statement, _ := s.(*syntax.ExprStmt)
	if statement == nil {
		return errOnlyCalls
	}
	expr, _ := statement.X.(*syntax.CallExpr)
	if expr == nil {
		return errOnlyCalls
	}
	function, _ := expr.Fn.(*syntax.Ident)
	if function == nil {
		return errOnlyCalls
	}
	c.name = function.Name
	for _, arg := range expr.Args {
		named, _ := arg.(*syntax.BinaryExpr)
		if named == nil || named.Op != syntax.EQ {
			return fmt.Errorf("the arguments of %s need their names", c.name)
		}
		name := named.X.(*syntax.Ident).Name
		if _, twice := c.args[name]; twice {
			return fmt.Errorf("%s is given twice", name)
		}
		v, err := valueOf(named.Y)
		if err != nil {
			return err
		}
		c.args[name] = v
	}
	return nil
}

func valueOf(e syntax.Expr) (v value, err error) {
	switch e := e.(type) {
	case *syntax.Ident:
		if e.Name == "None" {
			return v, nil
		}
	case *syntax.Literal:
		if e.Token == syntax.STRING {
			return value{isText: true, text: e.Value.(string)}, nil
		}
	case *syntax.ListExpr:
		v.isList = true
		for _, element := range e.List {
			one, err := valueOf(element)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, one)
		}
		return v, nil
	}
	return v, errOnlyValues
}

// written returns the text between two positions on one line.
func written(text []byte, start, end syntax.Position) string {
	lines := slices.Collect(strings.Lines(string(text)))[start.Line-1 : end.Line]
	last := []rune(lines[len(lines)-1])
	lines[len(lines)-1] = string(last[:min(int(end.Col)-1, len(last))])
	first := []rune(lines[0])
	lines[0] = string(first[min(int(start.Col)-1, len(first)):])
	return strings.Join(strings.Fields(strings.Join(lines, "")), " ")
}
