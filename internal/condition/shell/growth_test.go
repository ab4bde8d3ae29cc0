package shell_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Proves E25, E13, E14: the size of the result grows linearly with the line, however it is nested,
// and a line with more nested commands than the limit sets Excess.
func TestE25_Growth(t *testing.T) {
	weigh := func(text string) (n int, excess bool) {
		var l shell.Line
		l.Read([]byte(text))
		for i := range l.Commands {
			n++
			for _, w := range l.Commands[i].Words {
				n += 1 + len(w.Text)
			}
		}
		return n, l.Excess
	}
	for _, c := range []struct {
		head, unit, tail string
		excess           bool
	}{
		{"", "env -S ", "ls", true}, {"", "env -S '", "ls", true}, {"", "sh -c \"", "", false}, {"", "eval ", "ls", true}, {"", "sudo ", "ls", true}, {"", "timeout 1 ", "ls", true}, {"", "xargs ", "ls", true},
		{"", ";", "", false}, {"", "$(", "", false}, {"", "`", "", false}, {"", "\\", "", false}, {"", "{a,b}", "", false}, {"", "{a,", "", false}, {"", "cat <<E\n", "", false}, {"", "$((", "", false}, {"", "(", "", false},
		{"cat ", "../", "x", false}, {"", "cd a;", "cat x", false}, {"cat", " a", "", false}, {"ls ", "a=", "", false}, {"ls", "|ls", "", false}, {"find", " -exec ls ;", "", false}, {"ls ", "'", "", false}, {"ls ", "$'\\x41'", "", false},
		{"", "f(){ ", "", false}, {"", "# a\n", "", false}, {"git", " -c a=b", " log", false}, {"", "sh -c 'a';", "", false}, {"watch ", "'a;b' ", "", false},
		{"", "a[0]=", "", true}, {"x \"", "*", "", true}, {"ls", " *.a", "", true}, {"cat <", "*", "", true},
	} {
		const size = 140 << 10
		one, _ := weigh(c.head + strings.Repeat(c.unit, size/len(c.unit)) + c.tail)
		two, excess := weigh(c.head + strings.Repeat(c.unit, 2*size/len(c.unit)) + c.tail)
		if two > 3*one+size || two > 16*2*size {
			t.Errorf("%q: %d bytes weigh %d, twice as many %d", c.unit, size, one, two)
		}
		if excess != c.excess {
			t.Errorf("%q: excess %v", c.unit, excess)
		}
	}
}
