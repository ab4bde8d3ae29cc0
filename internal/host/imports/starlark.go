package imports

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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

// calls parses the part of Starlark that rules files use: calls at the top level whose arguments
// are named strings and lists. Other syntax could create deny rules, so it is an error.
func calls(f File) ([]call, error) {
	s := &starlark{text: string(f.Text), line: 1}
	var list []call
	for {
		s.blank(true)
		if s.text == "" {
			return list, nil
		}
		c, err := s.call()
		if err != nil {
			return nil, &Error{f.Name, s.line, err.Error()}
		}
		list = append(list, c)
	}
}

type starlark struct {
	text  string
	line  int
	depth int
}

// blank skips blanks and comments, and line ends that have no meaning.
func (s *starlark) blank(lines bool) {
	for s.text != "" {
		switch c := s.text[0]; {
		case c == '\n' && lines:
			s.line++
			s.text = s.text[1:]
		case c == ' ' || c == '\t' || c == '\r' || c == ';' && lines && s.depth == 0:
			s.text = s.text[1:]
		case c == '\\' && strings.HasPrefix(s.text, "\\\n"):
			s.line++
			s.text = s.text[2:]
		case c == '#':
			i := strings.IndexByte(s.text, '\n')
			if i < 0 {
				i = len(s.text)
			}
			s.text = s.text[i:]
		default:
			return
		}
	}
}

func (s *starlark) name() string {
	i := 0
	for i < len(s.text) && (s.text[i] == '_' || s.text[i] >= 'a' && s.text[i] <= 'z' || s.text[i] >= 'A' && s.text[i] <= 'Z' || i > 0 && s.text[i] >= '0' && s.text[i] <= '9') {
		i++
	}
	name := s.text[:i]
	s.text = s.text[i:]
	return name
}

func (s *starlark) take(token string) bool {
	rest, ok := strings.CutPrefix(s.text, token)
	if ok {
		s.text = rest
	}
	return ok
}

func (s *starlark) call() (c call, err error) {
	begin := s.text
	c = call{line: s.line, args: map[string]value{}}
	c.name = s.name()
	s.blank(false)
	if c.name == "" || !s.take("(") {
		return c, fmt.Errorf("only calls such as prefix_rule(...) can be read")
	}
	s.depth++
	for {
		s.blank(true)
		if s.take(")") {
			break
		}
		name := s.name()
		s.blank(true)
		if name == "" || strings.HasPrefix(s.text, "==") || !s.take("=") {
			return c, fmt.Errorf("the arguments of %s need their names", c.name)
		}
		if _, twice := c.args[name]; twice {
			return c, fmt.Errorf("%s is given twice", name)
		}
		s.blank(true)
		if c.args[name], err = s.value(); err != nil {
			return c, err
		}
		s.blank(true)
		if !s.take(",") && !strings.HasPrefix(s.text, ")") {
			return c, fmt.Errorf("unsupported value: only strings and lists of strings are supported")
		}
	}
	s.depth--
	c.text = strings.Join(strings.Fields(begin[:len(begin)-len(s.text)]), " ")
	s.blank(false)
	if s.text != "" && s.text[0] != '\n' && s.text[0] != ';' {
		return c, fmt.Errorf("only calls such as prefix_rule(...) can be read")
	}
	return c, nil
}

// maxDepth is the maximum nesting depth of lists.
const maxDepth = 16

func (s *starlark) value() (v value, err error) {
	switch {
	case strings.HasPrefix(s.text, "None"):
		if name := s.name(); name != "None" {
			return v, fmt.Errorf("unsupported name %s: only strings and lists of strings are supported", name)
		}
		return v, nil
	case s.take("["):
		v.isList = true
		if s.depth++; s.depth > maxDepth {
			return v, fmt.Errorf("the lists are nested too deeply")
		}
		for {
			s.blank(true)
			if s.take("]") {
				s.depth--
				return v, nil
			}
			e, err := s.value()
			if err != nil {
				return v, err
			}
			v.list = append(v.list, e)
			s.blank(true)
			if !s.take(",") && !strings.HasPrefix(s.text, "]") {
				return v, fmt.Errorf("unsupported value: only strings and lists of strings are supported")
			}
		}
	}
	v.isText = true
	v.text, err = s.string()
	return v, err
}

// string parses a string, raw or not, of one line or of several.
func (s *starlark) string() (string, error) {
	raw := s.take("r")
	quote := ""
	for _, q := range []string{`"""`, `'''`, `"`, `'`} {
		if s.take(q) {
			quote = q
			break
		}
	}
	if quote == "" {
		return "", fmt.Errorf("unsupported value: only strings and lists of strings are supported")
	}
	var b strings.Builder
	for {
		switch {
		case s.text == "":
			return "", fmt.Errorf("a string has no end")
		case s.take(quote):
			return b.String(), nil
		case s.text[0] == '\n':
			if len(quote) == 1 {
				return "", fmt.Errorf("a string has no end in its line")
			}
			s.line++
		case s.text[0] == '\\' && raw:
			b.WriteByte('\\')
			if s.text = s.text[1:]; s.text == "" {
				continue
			}
		case s.text[0] == '\\':
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			b.WriteString(r)
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text)
		b.WriteRune(r)
		s.text = s.text[size:]
	}
}

func (s *starlark) escape() (string, error) {
	if len(s.text) < 2 {
		return "", fmt.Errorf("a string has no end")
	}
	c := s.text[1]
	s.text = s.text[2:]
	if i := strings.IndexByte(`nrtabfv\'"`, c); i >= 0 {
		return string("\n\r\t\a\b\f\v\\'\""[i]), nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if c == '\n' {
		s.line++
		return "", nil
	}
	if digits == 0 || len(s.text) < digits {
		return "", fmt.Errorf("unsupported escape in a string: \\%c", c)
	}
	n, err := strconv.ParseUint(s.text[:digits], 16, 32)
	if err != nil || n > utf8.MaxRune || digits == 2 && n > 0x7F {
		return "", fmt.Errorf("unsupported escape in a string: \\%c", c)
	}
	s.text = s.text[digits:]
	return string(rune(n)), nil
}
