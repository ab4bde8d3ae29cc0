package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Limits of the full parser: it recurses, and a text of opening brackets must not cost gigabytes of
// stack.
const (
	maxParsed  = 64 << 10
	maxOpeners = 512
)

// parse adds the commands of a text that is more than a plain list. It returns false, without
// adding commands, if the text cannot be parsed.
func (l *Line) parse(text []byte, from parent) (ok bool) {
	if len(text) > maxParsed || bytes.ContainsAny(text, "\r\x00") || openers(text) > maxOpeners {
		return false
	}
	commands, words, redirects := len(l.Commands), len(l.words), len(l.redirects)
	defer func() {
		if recover() != nil {
			ok = false
		}
		if !ok {
			l.Commands, l.words, l.redirects = l.Commands[:commands], l.words[:words], l.redirects[:redirects]
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return false
	}
	w := walker{line: l, from: from}
	syntax.Walk(file, w.node)
	for _, c := range w.comments { // not every shell takes # for a comment (E23)
		l.cut([]byte(c), from)
	}
	return true
}

// openers counts the tokens that can make the parser recurse.
func openers(text []byte) int {
	n := 0
	for _, c := range text {
		switch c {
		case '(', '{', '`', '[', '!':
			n++
		}
	}
	for _, word := range []string{"if", "while", "until", "for", "case", "time", "coproc", "select", "function"} {
		n += bytes.Count(text, []byte(word))
	}
	return n
}

// walker collects the simple commands of a syntax tree.
type walker struct {
	line     *Line
	from     parent
	comments []string
}

func (w *walker) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Comment:
		w.comments = append(w.comments, n.Text)
	case *syntax.Stmt:
		w.statement(n)
	}
	return true
}

// statement adds the simple command of a statement, if it is one or has redirections.
func (w *walker) statement(s *syntax.Stmt) {
	l := w.line
	words, redirects := len(l.words), len(l.redirects)
	var script *syntax.Word
	var assigns []*syntax.Assign
	for _, r := range s.Redirs {
		if r.Hdoc != nil {
			script = r.Hdoc
		} else if r.Op == syntax.WordHdoc {
			script = r.Word
		}
		l.redirect(r)
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Args {
			l.words = append(l.words, l.word(a))
		}
		assigns = c.Assigns
	case *syntax.DeclClause:
		l.words = append(l.words, Word{Text: []byte(c.Variant.Value), Literal: true})
		for _, a := range c.Args {
			if a.Naked && a.Name == nil && a.Value != nil {
				l.words = append(l.words, l.word(a.Value))
			} else if a.Name != nil {
				l.words = append(l.words, Word{Text: []byte(a.Name.Value)})
			}
		}
		assigns = c.Args
	case *syntax.FuncDecl:
		return
	default:
		if len(l.redirects) == redirects {
			return
		}
	}
	c := l.add(l.words[words:len(l.words):len(l.words)], l.redirects[redirects:len(l.redirects):len(l.redirects)], w.from, false)
	if script != nil && programs.Shells.Has(string(bytes.ToLower(c.Program()))) {
		c.script = l.word(script).Text
	}
	if len(c.Words) > 0 && c.Words[0].Braces {
		c.braces = c.Words[0].Text // {rm,-rf,/}
	}
	w.assigned(assigns)
}

// assigned reads the values of assignments as command lines: PAGER='rm x'.
func (w *walker) assigned(list []*syntax.Assign) {
	for _, a := range list {
		if a.Value == nil {
			continue
		}
		if value := w.line.word(a.Value); len(value.Text) > 0 {
			w.line.cut(value.Text, w.from)
		}
	}
}

// redirect adds a redirection that opens a file.
func (l *Line) redirect(r *syntax.Redirect) {
	write, read := false, false
	switch r.Op {
	case syntax.RdrIn:
		read = true
	case syntax.RdrInOut:
		write, read = true, true
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		text := l.word(r.Word)
		if text.Literal && (IsNumber(bytes.TrimSuffix(text.Text, []byte("-"))) || string(text.Text) == "-") {
			return
		}
		write = true
	default:
		write = true
	}
	target := l.word(r.Word)
	if read {
		l.redirects = append(l.redirects, Redirect{Target: target})
	}
	if write {
		l.redirects = append(l.redirects, Redirect{Target: target, Write: true})
	}
}

// word returns the visible part of a word: expansions are omitted.
func (l *Line) word(w *syntax.Word) Word {
	out := Word{Literal: true}
	out.Text = appendParts(nil, w.Parts, &out, false)
	if len(out.Text) > 0 && out.Text[0] == '~' && !out.Quoted {
		out.Literal, out.Tilde = false, out.Literal
	}
	if string(out.Text) == "[" && len(w.Parts) == 1 { // the program, or an unclosed bracket
		out.Glob, out.Literal = false, true
	}
	return out
}

func appendParts(dst []byte, parts []syntax.WordPart, w *Word, quoted bool) []byte {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			dst = appendLit(dst, p.Value, w, quoted)
		case *syntax.SglQuoted:
			w.Quoted = true
			if p.Dollar {
				dst = appendANSI(dst, p.Value)
			} else {
				dst = append(dst, p.Value...)
			}
		case *syntax.DblQuoted:
			w.Quoted = true
			dst = appendParts(dst, p.Parts, w, true)
		case *syntax.ExtGlob:
			w.Literal, w.Glob = false, true
			dst = append(dst, p.Op.String()+p.Pattern.Value+")"...)
		case *syntax.ParamExp:
			if w.Literal && len(dst) == 0 && p.Param != nil && p.Param.Value == "HOME" && !p.Length && !p.Excl {
				w.Home = true
			}
			w.Literal = false
			if p.Exp != nil && p.Exp.Word != nil { // ${x:-rm}
				dst = appendParts(dst, p.Exp.Word.Parts, w, quoted)
			}
		case *syntax.CmdSubst:
			w.Literal = false
			if text := printedBy(p.Stmts); quoted && text != nil {
				dst = append(dst, bytes.TrimRight(appendParts(nil, text.Parts, w, true), "\n")...)
			}
		default:
			w.Literal = false
		}
	}
	return dst
}

// printedBy returns the text that $(cat <<END ...) prints, nil for any other substitution.
func printedBy(list []*syntax.Stmt) *syntax.Word {
	if len(list) != 1 || len(list[0].Redirs) != 1 {
		return nil
	}
	if c, ok := list[0].Cmd.(*syntax.CallExpr); !ok || len(c.Args) != 1 || string(programs.Base([]byte(c.Args[0].Lit()))) != "cat" {
		return nil
	}
	return list[0].Redirs[0].Hdoc
}

// appendLit removes backslashes from a text outside of quotes, or inside of double
// ones.
func appendLit(dst []byte, text string, w *Word, quoted bool) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 == len(text):
			continue // dropped by some shells
		case c == '\\':
			i++
			if text[i] == '\n' {
				continue
			}
			if quoted && strings.IndexByte("$`\"\\", text[i]) < 0 {
				dst = append(dst, '\\')
			}
			w.Quoted = true
			c = text[i]
		case !quoted && (c == '*' || c == '?' || c == '['):
			w.Glob, w.Literal = true, false
		case !quoted && c == '{' && strings.ContainsAny(text[i:], ",."):
			w.Braces, w.Literal = true, false
		}
		dst = append(dst, c)
	}
	return dst
}

// appendANSI decodes the content of $'...'.
func appendANSI(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			dst = append(dst, text[i])
			continue
		}
		r, size := ansiEscape(text[i+1 : min(i+1+maxEscape, len(text))])
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}
