package shell_test

import (
	"bytes"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

func vector(words ...string) [][]byte {
	var list [][]byte
	for _, w := range words {
		list = append(list, []byte(w))
	}
	return list
}

// Proves S40, E13, E14, E19: no shell reads the words of a vector, but commands in them are
// unwrapped, and the text after sh -c is a command line.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		words    []string
		plain    bool
		line     string
		commands int
	}{
		{[]string{"git", "status"}, true, "git status", 1},
		{[]string{"git", "commit", "-m", "a; b\nc 'd' $e"}, true, "git commit -m 'a; b\nc '\\''d'\\'' $e'", 1},
		{[]string{"sudo", "rm", "x"}, true, "sudo rm x", 2},
		{[]string{"sh", "-c", "ls; rm x"}, true, "sh -c 'ls; rm x'", 3},
		{[]string{"sh", "-c", "ls $x"}, false, "sh -c 'ls $x'", 2},
		{[]string{"A=1", "x"}, true, "'A=1' x", 1},
		{[]string{"x", "A=1", "=y"}, true, "x A=1 '=y'", 1},
		{[]string{"if", ""}, true, "'if' ''", 1},
		{[]string{"x", "é"}, true, "x 'é'", 1},
		{[]string{"x", "a\u200b"}, false, "x 'a\u200b'", 1},
		{[]string{"x", "a\r"}, false, "x 'a\r'", 1},
		{[]string{"", "x"}, false, "'' x", 1},
		{nil, false, "", 0},
	} {
		var l shell.Line
		l.ReadWords(vector(c.words...), true)
		if l.Plain != c.plain || len(l.Commands) != c.commands {
			t.Errorf("%q: plain %t, %d commands", c.words, l.Plain, len(l.Commands))
		}
		if line := string(shell.AppendWords(nil, vector(c.words...))); line != c.line {
			t.Errorf("%q: %s, want %s", c.words, line, c.line)
		}
		if l.ReadWords(vector(c.words...), false); l.Plain || l.Complete {
			t.Errorf("%q: a part of a vector is plain", c.words)
		}
	}
}

// Proves S40: the strict and the full parser read a vector's command line as its words, and unwrap
// the same commands.
func TestVectorsAreLines(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"git", "sudo", "sh", "-c", "env", "rm x; ls", "'", "\\", "a b", "$x", "*", "A=b", "if", "", "é", "~", "#", "{a,b}", "-x", "a'b", "%1", "!"}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab '\"\\$;&|<>()*?[]{}~#=!%\té")), 0, 8, -1),
	)
	property.Check(t, func(t *rapid.T) {
		words := vector(rapid.SliceOfN(word, 1, 5).Draw(t, "words")...)
		line := shell.AppendWords(nil, words)
		var v, l shell.Line
		v.ReadWords(words, true)
		l.Read(line)
		if l.Plain && !v.Plain && len(words[0]) > 0 {
			t.Fatalf("%q is plain as a line, not as a vector", line)
		}
		if all, ok := commandsOf(string(line), syntax.LangBash); ok && len(all) == 1 && len(all[0]) != len(words) {
			t.Fatalf("%q is read as %q", line, all)
		} else if ok && len(all) == 1 {
			for i, w := range all[0] {
				if w != string(words[i]) {
					t.Fatalf("%q: word %d is read as %q", line, i, w)
				}
			}
		}
		if !l.Plain {
			return
		}
		if len(l.Commands) != len(v.Commands) {
			t.Fatalf("%q: %d commands as a line, %d as a vector", line, len(l.Commands), len(v.Commands))
		}
		for i := range l.Commands {
			a, b := &l.Commands[i], &v.Commands[i]
			if a.Parent != b.Parent || a.From != b.From || a.To != b.To || a.End != b.End || a.Plain != b.Plain || len(a.Words) != len(b.Words) {
				t.Fatalf("%q: command %d differs: %+v, %+v", line, i, a, b)
			}
			for k := range a.Words {
				if !bytes.Equal(a.Words[k].Text, b.Words[k].Text) || a.Words[k].Quoted != b.Words[k].Quoted {
					t.Fatalf("%q: word %d of command %d differs", line, k, i)
				}
			}
		}
	})
}
