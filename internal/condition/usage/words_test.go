package usage_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// Proves C1, C3, E19: a command is granted only if the usage mentions each of its words and
// options, however they are written. It is suspected with or without quotes.
func TestWords(t *testing.T) {
	const (
		granted   = "granted"
		suspected = "suspected" // and not granted
		neither   = ""
	)
	for text, commands := range map[string]map[string]string{
		"cat *": {
			"cat a": granted, "cat 'a b'": granted, "cat -": granted, "cat": neither, "cat a b": neither,
			"cat -n": suspected, "cat a -n": suspected, "'cat' a": suspected, "c\\at a": suspected, "/bin/cat a": suspected, "tac a": neither,
		},
		"cat **":         {"cat": granted, "cat a b c": granted, "cat -n a": suspected, "cat -- a": suspected},
		"git {log,show}": {"git log": granted, "git show": granted, "git 'log'": suspected, "git l\\og": suspected, "git lo": neither, "git log x": neither},
		"git {log,l*}":   {"git log": granted, "git 'log'": granted, "git 'lag'": granted, "git show": neither},
		"cat *.go":       {"cat a.go": granted, "cat 'a.go'": granted, "cat a.gox": neither},
		"head [-n *]": {
			"head": granted, "head -n 5": granted, "head -n5": granted, "head -n=5": granted,
			"head -n": suspected, "head -n -5": suspected, "head -n --": suspected, "head -nn": granted, "head --n 5": suspected, "head 5": neither,
		},
		"head [-n {1,2}]": {"head -n 1": granted, "head -n2": granted, "head -n 3": suspected, "head -n3": suspected, "head -n12": suspected, "head -n '1'": suspected},
		"head [-n -*]":    {"head -n -5": granted, "head -n-5": granted, "head -n 5": suspected},
		"x [--max *|--all]": {
			"x --max 5": granted, "x --max=5": granted, "x --max=": granted, "x --all": granted, "x --all --max 5": granted,
			"x --max": suspected, "x --max --all": suspected, "x --maximum=5": suspected, "x --max5": suspected, "x --ma 5": suspected,
			"x --all=1": suspected, "x --al": suspected, "x -all": suspected,
		},
		"head [-q|-v|-n *]": {
			"head -qv": granted, "head -vqv": granted, "head -qn5": granted, "head -qn 5": granted, "head -nq": granted,
			"head -qn": suspected, "head -qx": suspected, "head -q-v": suspected, "head --qv": suspected,
		},
		"git log [-n *]": {"git log -n 5": granted, "git -n 5 log": suspected},
		"git [-n *] log": {"git log -n 5": granted, "git -n 5 log": granted, "git -n5 log": granted, "git -n log": suspected},
		"git log [--] **": {
			"git log -- -x": granted, "git log a -- b": granted, "git log -x -- a": suspected, "git log -x": suspected, "git -- log": suspected,
		},
		"ls [-*] **":    {"ls -x --foo=1 a": granted, "ls -- a": suspected, "ls - a": granted},
		"ls [--color*]": {"ls --color": granted, "ls --color=auto": granted, "ls --colo": suspected, "ls -x": suspected},
		"sort [!-o|--output|-b*] [-*] **": {
			"sort -u a": granted, "sort -o a": suspected, "sort -uo a": suspected, "sort -oa": suspected, "sort --output=a": suspected, "sort --out a": suspected,
			"sort --o=a": suspected, "sort -bx": suspected, "sort --output-x": granted,
		},
		"find * [!-exec] [-*] **": {"find a -name b": granted, "find a -exec b": suspected, "find a --exec b": suspected, "find a -exec=b": suspected, "find a -executable": granted},
		"cd <root>":               {"cd /srv/proj": granted, "cd /srv/other": neither, "cd": neither},
		"git [-C <root>] log":     {"git -C /srv/proj log": granted, "git log": granted, "git -C /etc log": suspected, "git -C/srv/proj log": suspected, "git -C=/srv/proj log": suspected, "git log -C": suspected},
		"timeout * <command>":     {"timeout 5 ls -l": granted, "timeout 5": neither, "timeout -s 9 5 ls": suspected},
		"env [-i|-C <command>]":   {"env": granted, "env -i": granted, "env -C": suspected},
	} {
		root := func(_ *shell.Command, w *shell.Word) bool { return w.Literal && string(w.Text) == "/srv/proj" }
		list, fault := usage.Compile([]string{text}, false, usage.Placeholders{Root: root})
		if fault != nil {
			t.Errorf("%s: %v", text, fault)
			continue
		}
		for command, want := range commands {
			var line shell.Line
			line.Read([]byte(command))
			for _, list := range []*usage.List{list, usage.Checked([]string{text}, usage.Placeholders{Root: root})} { // parsed by Compile, or on demand
				got := neither
				if suspects(list, line.Commands[0].Words) {
					got = suspected
				}
				if list.Grants(&line, 0, nil) {
					if got == neither && !strings.Contains(text, "<root>") {
						t.Errorf("%s: %s is granted, and not suspected", text, command)
					}
					got = granted
				}
				if got != want {
					t.Errorf("%s: %s is %q, not %q", text, command, got, want)
				}
			}
		}
	}
}

// Proves C1: a list grants and suspects the commands of each of its usages.
func TestList(t *testing.T) {
	list, fault := usage.Compile([]string{"git log", "{cat,tac} *", "py* -V", "git show"}, false, usage.Placeholders{})
	if fault != nil {
		t.Fatal(fault)
	}
	for command, want := range map[string]bool{"git log": true, "git show": true, "cat a": true, "tac a": true, "python -V": true, "git push": false, "python x": false, "head a": false} {
		var line shell.Line
		line.Read([]byte(command))
		if list.Grants(&line, 0, nil) != want || suspects(list, line.Commands[0].Words) != want {
			t.Errorf("%s: not %v", command, want)
		}
	}
}

// Proves C1: no usage grants a command with unknown words; a command that another one runs is
// granted by its own usage.
func TestCommandsInCommands(t *testing.T) {
	list, fault := usage.Compile([]string{"cat **"}, false, usage.Placeholders{})
	if fault != nil {
		t.Fatal(fault)
	}
	for text, want := range map[string]bool{"env cat a": true, "timeout 5 cat a": true, "xargs cat": false, "xargs cat a": false} {
		var line shell.Line
		line.Read([]byte(text))
		if len(line.Commands) != 2 {
			t.Fatalf("%s is %d commands", text, len(line.Commands))
		}
		if got := list.Grants(&line, 1, nil); got != want || !suspects(list, line.Commands[1].Words) {
			t.Errorf("%s: its command is granted: %v", text, got)
		}
	}
}

// A usage that is empty or cannot be enforced is an error with its position. Checked does not grant
// anything for it, and suspects every command of its program.
func TestFaults(t *testing.T) {
	for text, want := range map[string]struct {
		restrictive bool
		offset      int
		message     string
	}{
		"":                             {false, 0, "does not begin with a program"},
		"** x":                         {false, 0, "does not begin with a program"},
		"[-a] x":                       {false, 0, "does not begin with a program"},
		"<command>":                    {false, 0, "does not begin with a program"},
		"x [-a":                        {false, 2, "a bracket without its end"},
		"x [-a|]":                      {false, 6, "an empty option"},
		"x [-a|b]":                     {false, 6, "does not begin with a dash"},
		"x [-]":                        {false, 3, "does not begin with a dash"},
		"x [-a b c]":                   {false, 3, "more than one value"},
		"x [!-a b]":                    {false, 4, "more than one value"},
		"x [-a {]":                     {false, 6, ""},
		"x {":                          {false, 2, ""},
		"x" + strings.Repeat(" y", 60): {false, 120, "too many elements"},
		"x [!-a]":                      {true, -1, "excludes options"},
		"cd <root>":                    {true, -1, "<root>"},
		"git [-C <root>]":              {true, -1, "<root>"},
		"cd <below>":                   {true, -1, "<below>"},
		"curl <local>":                 {true, -1, "<local>"},
		"x <script>":                   {true, -1, "<script>"},
		"x [-*] <script> **":           {false, 3, "another script"},
		"x [-n|-f *] <script>":         {false, 6, "another script"},
		"x <script> ** [--in-place]":   {false, 15, "another script"},
		"x [-e *] <script>":            {false, 3, "another script"},
	} {
		_, fault := usage.Compile([]string{"x", text}, want.restrictive, usage.Placeholders{})
		if fault == nil {
			t.Errorf("%q is a usage", text)
		} else if fault.Index != 1 || fault.Offset != want.offset || !strings.Contains(fault.Message, want.message) {
			t.Errorf("%q: usage %d, byte %d: %s, not byte %d: %s", text, fault.Index, fault.Offset, fault.Message, want.offset, want.message)
		}
		var line shell.Line
		line.Read([]byte("x -a b"))
		if list := usage.Checked([]string{text}, usage.Placeholders{}); !want.restrictive && (list.Grants(&line, 0, nil) || strings.HasPrefix(text, "x") && !suspects(list, line.Commands[0].Words)) {
			t.Errorf("%q is followed, or not suspected", text)
		}
	}
	for _, text := range []string{"x [!-a]", "cd <root>", "x [-n|-e] <script> **", "x" + strings.Repeat(" y", 59), "x [+a]"} {
		if _, fault := usage.Compile([]string{text}, false, usage.Placeholders{}); fault != nil {
			t.Errorf("%q: %v", text, fault)
		}
	}
}

// suspects reports whether words may follow a usage of a list.
func suspects(list *usage.List, words []shell.Word) bool {
	program := usage.ReadProgram(&words[0])
	return list.Suspects(&program, words[1:], nil)
}
