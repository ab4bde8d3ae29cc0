package shell_test

import (
	"bytes"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// commandsOf reads a line with the full parser as one kind of shell; commands in $(...) follow the
// command with that word, those of compound commands are in text order. ok is false if the line has
// more than these.
func commandsOf(line string, lang syntax.LangVariant) (all [][]string, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	ok = true
	loops := map[string]loopItem{}
	var statement func(s *syntax.Stmt)
	statements := func(lists ...[]*syntax.Stmt) {
		for _, list := range lists {
			for _, s := range list {
				statement(s)
			}
		}
	}
	outputs := func(w *syntax.Word) { // of the commands in a word that is no operand
		var inside []*syntax.Stmt
		_, literal := literalOf(line, w, &inside, nil)
		ok = ok && literal
		statements(inside)
	}
	statement = func(s *syntax.Stmt) {
		var words []string
		var inside []*syntax.Stmt
		ok = ok && !s.Coprocess
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			statement(c.X)
			statement(c.Y)
			return
		case *syntax.CallExpr:
			for _, a := range c.Assigns {
				ok = ok && len(c.Args) > 0 && !a.Append && a.Index == nil && (strings.Contains("CI NO_COLOR TERM TZ LANG LC_ALL PAGER GIT_PAGER", a.Name.Value) || a.Name.Value == "IFS" && c.Args[0].Lit() == "read")
			}
			for _, w := range c.Args {
				text, literal := literalOf(line, w, &inside, loops)
				if item, complete := loops[singleVariable(w)]; complete && item.glob && words[0] != "printf" {
					text = item.text
				}
				ok = ok && literal
				words = append(words, text)
			}
		case *syntax.ForClause:
			iter, over := c.Loop.(*syntax.WordIter)
			if ok = ok && over && !c.Braces && !c.Select; !ok {
				return
			}
			for _, w := range iter.Items {
				outputs(w)
			}
			for _, w := range iter.Items {
				text, literal := literalOf(line, w, &inside, nil)
				lit := w.Lit()
				item := loopItem{text, strings.ContainsAny(lit, "*?") || strings.HasPrefix(lit, "~"), strings.HasPrefix(lit, "{") || isOutput(w.Parts[0])}
				if ok = ok && literal; item.glob {
					all = append(all, []string{"echo", text})
				}
				_, shadowed := loops[iter.Name.Value]
				ok = ok && !shadowed
				loops[iter.Name.Value] = item
				statements(c.Do)
				delete(loops, iter.Name.Value)
			}
			return
		case *syntax.IfClause:
			for ; c != nil; c = c.Else {
				statements(c.Cond, c.Then)
			}
			return
		case *syntax.WhileClause:
			statements(c.Cond, c.Do)
			return
		case *syntax.CaseClause:
			outputs(c.Word)
			for _, item := range c.Items {
				ok = ok && item.Op == syntax.Break
				statements(item.Stmts)
			}
			return
		case *syntax.Subshell:
			statements(c.Stmts)
			return
		case *syntax.Block:
			statements(c.Stmts)
			return
		case *syntax.TestClause:
			words = append([]string{"[["}, testWords(line, c.X, &inside, loops, &ok)...)
			words = append(words, "]]")
		case *syntax.DeclClause:
			text := line[c.Pos().Offset():c.End().Offset()]
			inner, _ := commandsOf("x "+text, lang)
			words = inner[0][1:]
		case *syntax.TimeClause:
			words = []string{"time"}
			if c.PosixFormat {
				words = append(words, "-p")
			}
			if c.Stmt != nil {
				rest, plain := commandsOf(line[c.Stmt.Pos().Offset():c.Stmt.End().Offset()], lang)
				ok = ok && plain
				if len(rest) > 0 { // the first command of a timed pipe
					words = append(words, rest[0]...)
					all = append(all, words)
					all = append(all, rest[1:]...)
					return
				}
			}
		case *syntax.LetClause:
			words = []string{"let"}
		case nil:
		default:
			ok = false
		}
		all = append(all, words)
		for _, s := range inside {
			statement(s)
		}
	}
	for _, s := range file.Stmts {
		statement(s)
	}
	return all, ok
}

// isOutput reports whether a part of a word is the output of commands.
func isOutput(p syntax.WordPart) bool {
	_, is := p.(*syntax.CmdSubst)
	return is
}

// testWords returns the words of a [[ ]] expression.
func testWords(line string, x syntax.TestExpr, inside *[]*syntax.Stmt, loops map[string]loopItem, ok *bool) []string {
	switch x := x.(type) {
	case *syntax.UnaryTest:
		operator, _, _ := strings.Cut(line[x.OpPos.Offset():], " ")
		return append([]string{operator}, testWords(line, x.X, inside, loops, ok)...)
	case *syntax.BinaryTest:
		operator, _, _ := strings.Cut(line[x.OpPos.Offset():], " ")
		words := append(testWords(line, x.X, inside, loops, ok), operator)
		*ok = *ok && x.Op != syntax.AndTest && x.Op != syntax.OrTest
		return append(words, testWords(line, x.Y, inside, loops, ok)...)
	case *syntax.Word:
		text, literal := literalOf(line, x, inside, loops)
		if item, complete := loops[singleVariable(x)]; complete && item.glob && strings.ContainsAny(item.text, "*?~") {
			text = item.text
		}
		*ok = *ok && literal
		return []string{text}
	}
	*ok = false
	return nil
}

// loopItem is one value of a loop's variable. glob: it has wildcards. unknown: a command prints it.
type loopItem struct {
	text          string
	glob, unknown bool
}

// singleVariable returns the variable that is all of a quoted word.
func singleVariable(w *syntax.Word) string {
	if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(w.Parts) == 1 && len(q.Parts) == 1 {
		if p, ok := q.Parts[0].(*syntax.ParamExp); ok {
			return p.Param.Value
		}
	}
	return ""
}

// literalOf returns a word without quotes, with the values of loop variables that have no
// wildcards. Other expansions stay as written; inside receives the statements of substitutions.
func literalOf(line string, w *syntax.Word, inside *[]*syntax.Stmt, loops map[string]loopItem) (string, bool) {
	var b strings.Builder
	ok := true
	var parts func(list []syntax.WordPart, quoted bool)
	parts = func(list []syntax.WordPart, quoted bool) {
		for _, p := range list {
			switch p := p.(type) {
			case *syntax.Lit:
				for i := 0; i < len(p.Value); i++ {
					if p.Value[i] == '\\' && i+1 < len(p.Value) && (!quoted || strings.IndexByte("$`\"\\", p.Value[i+1]) >= 0) {
						i++
					}
					b.WriteByte(p.Value[i])
				}
			case *syntax.SglQuoted:
				ok = ok && !p.Dollar
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				ok = ok && !p.Dollar
				parts(p.Parts, true)
			case *syntax.ParamExp:
				if item, is := loops[p.Param.Value]; is && !item.glob && !item.unknown {
					b.WriteString(item.text)
				} else {
					b.WriteString(line[p.Pos().Offset():p.End().Offset()])
				}
			case *syntax.CmdSubst:
				text, printed := printedOf(p)
				if ok = ok && !p.Backquotes; !printed || !quoted {
					text = line[p.Pos().Offset():p.End().Offset()]
					*inside = append(*inside, p.Stmts...)
				}
				b.WriteString(text)
			default:
				ok = false
			}
		}
	}
	parts(w.Parts, false)
	return b.String(), ok
}

// printedOf returns the output of a substitution that is one cat of a text without expansions.
func printedOf(s *syntax.CmdSubst) (string, bool) {
	if len(s.Stmts) != 1 || len(s.Stmts[0].Redirs) != 1 {
		return "", false
	}
	c, call := s.Stmts[0].Cmd.(*syntax.CallExpr)
	r := s.Stmts[0].Redirs[0]
	if !call || len(c.Args) != 1 || len(c.Assigns) > 0 || c.Args[0].Lit() != "cat" || r.Op != syntax.Hdoc || r.Hdoc == nil {
		return "", false
	}
	switch r.Word.Parts[0].(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return strings.TrimRight(r.Hdoc.Lit(), "\n"), true
	}
	return "", false
}

// Proves E6, E7, E11, E19, E27: a full parser reads a plain line as the same commands with the same
// words, as Bash and as POSIX shell, and no text makes a parser fail.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"git status && ls", "a | b; c & d\ne", "a 'b c' \"d\" e\\ f", "a >b 2>&1", "time a", "export A=b", "a $(b)", "bash -c 'a b'", "a @{u} b^ c~1", "a !",
		"find . -exec a {} \\;", "a\\\nb", "a 1>b", "a=b", "let x", "export 0=", "{} a", "a <<E\nE", "a \"$(cat <<'E'\nb (c)\nE\n)\"", "a\x00b", "\xff", "time -p a | b",
		"ls src/*.go ~/x", "echo \"$?\" $(ls a | b) c", "CI=1 a; ! b", "# x\na \\\n b", "cat >a <<'E' | b\n$(x)\nE\nc",
		"for f in a 'b c' d/*; do echo \"x $f\" | b; cat \"$f\"; done | c", "for i in 1 2\ndo for j in 3; do a $i$j; done\ndone; b", "if [ -f a ]; then b 'c d'; elif d | e; then f; else g; fi > h; i", "while IFS= read -r line; do echo \"x $line\" | a; done < b", "until a; do b\ndone", "case $? in a|b*) c;; *) d; e\nesac | f",
		"(cd a && b); { c; d & } 2>&1 | (e; (f))", "[[ -f a ]] && b; ! [[ $x == *.go ]] || c", "for x in $(a | b) {1..9}; do echo \"$x\"; case \"$x\" in c) d;; esac; done", "[ \"$(a)\" = b ] && c; [ -n \"$x\" ]",
		"for f in d/*; do [ -f \"${f}\" ] && printf %s \"$f\"; done & a",
	} {
		f.Add(s)
	}
	var l shell.Line
	f.Fuzz(func(t *testing.T, line string) {
		l.Read([]byte(line))
		for i, c := range l.Commands {
			if c.End <= i || c.End > len(l.Commands) || c.Parent >= i || c.From < 0 || c.To < c.From {
				t.Fatalf("%q: command %d is out of order: %+v", line, i, c)
			}
		}
		if !l.Plain || strings.Contains(line, "let") || strings.Contains(line, "time") {
			return
		}
		for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX} {
			want, ok := commandsOf(line, lang)
			if !ok {
				t.Fatalf("%q is plain, but not to %v: %q", line, lang, want)
			}
			n := 0
			for _, c := range l.Commands {
				if c.Parent >= 0 {
					continue
				}
				if n == len(want) || len(c.Words) != len(want[n]) {
					t.Fatalf("%q: command %d, %v has %q", line, n, lang, want)
				}
				for k, w := range c.Words {
					if !bytes.Equal(w.Text, []byte(want[n][k])) {
						t.Fatalf("%q: word %q, %v has %q", line, w.Text, lang, want[n][k])
					}
				}
				n++
			}
			if n != len(want) {
				t.Fatalf("%q: %d commands, %v has %q", line, n, lang, want)
			}
		}
	})
}
