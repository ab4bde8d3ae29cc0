package usage_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// The commands that certainly follow a usage, and those that may follow it.
func ExampleCompile() {
	project := func(_ *shell.Command, w *shell.Word) bool { return w.Literal && string(w.Text) == "/srv/proj" }
	list, err := usage.Compile([]string{"git [-C <root>] {log,show} [--oneline|-n *] **"}, false, usage.Placeholders{Root: project})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"git log -n5 main", "git -C /srv/proj log", "git -C /etc log", "git log --output=x", "git 'log'", "git push"} {
		var line shell.Line
		line.Read([]byte(text))
		program := usage.ReadProgram(&line.Commands[0].Words[0])
		fmt.Printf("%-20s granted %-5t suspected %t\n", text, list.Grants(&line, 0, nil), list.Suspects(&program, line.Commands[0].Words[1:], nil))
	}
	// Output:
	// git log -n5 main     granted true  suspected true
	// git -C /srv/proj log granted true  suspected true
	// git -C /etc log      granted false suspected true
	// git log --output=x   granted false suspected true
	// git 'log'            granted false suspected true
	// git push             granted false suspected false
}
