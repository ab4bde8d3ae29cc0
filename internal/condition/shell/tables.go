package shell

import (
	"bytes"
	"strings"
)

// words is a set of words. It is laid out by the linker and asked one word after the
// other: a process that starts for one call has no use for a map that it would make first,
// and a map is no faster for so few.
type words []string

func (w words) has(word string) bool {
	for _, s := range w {
		if len(s) == len(word) && s[0] == word[0] && s == word {
			return true
		}
	}
	return false
}

// shells read a command line behind -c.
var shells = words{"sh", "bash", "dash", "zsh", "ksh", "mksh", "oksh", "ash", "fish", "rbash", "rzsh", "yash"}

// environment are builtins that change how later words are read (E21, E26).
var environment = words{"alias", "unalias", "enable", "hash", "trap", "shopt", "set", "bind", "complete", "compgen", "unset"}

// evaluating are builtins that some shell lets evaluate their words once more, as
// arithmetic or as the name of a variable.
var evaluating = words{
	"printf", "print", "test", "[", "let", "read", "unset", "declare", "typeset", "local", "export", "readonly", "wait", "getopts", "mapfile",
	"readarray", "ulimit", "return", "exit", "shift",
}

// listed reports that a word stands in a short list, between blanks.
func listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// codeLetters are the letters of an interpreter's options that take code, "" for a program
// that is none.
func codeLetters(program string) string {
	switch program {
	case "python", "python2", "python3", "pypy3", "tclsh":
		return "c"
	case "perl", "julia":
		return "eE"
	case "node", "nodejs", "bun":
		return "ep"
	case "php":
		return "rBRE"
	case "ruby", "lua", "luajit", "osascript", "rscript", "r", "elixir", "erl", "ghc", "groovy":
		return "e"
	}
	return ""
}

// loose wrappers run a part of their words, or a text, in a way that depends on more
// than their options.
var loose = words{
	".", "source", "su", "ssh", "watch", "parallel", "sem", "script", "busybox", "toybox", "flock", "npx", "bunx", "pnpx", "uvx", "runuser", "pkexec",
	"systemd-run", "unshare", "nsenter", "chroot", "taskset", "setarch", "linux32", "linux64", "strace", "ltrace", "gdb", "entr", "powershell", "pwsh",
	"cmd", "csh", "tcsh", "start-stop-daemon", "dbus-run-session", "proot", "fakeroot", "firejail", "bwrap", "expect", "unbuffer", "rlwrap", "ts", "osh",
	"ysh", "oil", "nu", "elvish", "xonsh", "capsh", "sg", "at", "batch", "tmux", "screen",
}

// wrapper says how to find the command behind a wrapper's own options.
type wrapper struct {
	options  string // with ":" for those that have a value, "!" for those with which nothing is run
	operands int    // words between the options and the command
	assigns  bool   // NAME=value may stand there
	open     bool   // the command gets more words
	lineFlag bool   // its -S takes a command line
	number   bool   // -5 is an option
}

// wrapperOf finds a wrapper that is understood.
func wrapperOf(program string) (w wrapper, ok bool) {
	switch program {
	case "env":
		return wrapper{options: "-i -0 -v -u: -C: -P: --ignore-environment --null --debug --unset: --chdir: -S: --split-string:", assigns: true, lineFlag: true}, true
	case "timeout":
		return wrapper{options: "-f -v -p -k: -s: --foreground --verbose --preserve-status --kill-after: --signal:", operands: 1}, true
	case "nice":
		return wrapper{options: "-n: --adjustment:", number: true}, true
	case "nohup":
		return w, true
	case "setsid":
		return wrapper{options: "-c -f -w --ctty --fork --wait"}, true
	case "stdbuf":
		return wrapper{options: "-i: -o: -e: --input: --output: --error:"}, true
	case "ionice":
		return wrapper{options: "-t -c: -n: --ignore --class: --classdata:"}, true
	case "chrt":
		return wrapper{options: "-b -f -i -o -r", operands: 1}, true
	case "time":
		return wrapper{options: "-p -l -v -a -f: -o: --portability --verbose --format:"}, true
	case "command":
		return wrapper{options: "-p -v! -V!"}, true
	case "builtin":
		return w, true
	case "exec":
		return wrapper{options: "-c -l -a:"}, true
	case "sudo":
		return wrapper{options: "-n -S -E -H -k -b -A -i -s -u: -g: -p: -C: -D: -h: -r: -t: --non-interactive --preserve-env --user: --group:", assigns: true}, true
	case "doas":
		return wrapper{options: "-n -s -u: -C:"}, true
	case "xargs":
		return wrapper{options: "-0 -r -t -p -x -o -I: -n: -P: -s: -L: -d: -a: -E: -J: -R: --null --no-run-if-empty --verbose --max-args: --max-procs: --delimiter: --replace: --max-lines: --arg-file:", open: true}, true
	case "caffeinate":
		return wrapper{options: "-d -i -m -s -u -t: -w:"}, true
	case "arch":
		return wrapper{options: "-e: -d: -c", number: true}, true
	}
	return w, false
}

// option looks up an option, and whether it has a value, or says that nothing is run.
func (w wrapper) option(name string) (value, query, ok bool) {
	for field := range strings.FieldsSeq(w.options) {
		if strings.TrimRight(field, ":!") == name {
			return strings.HasSuffix(field, ":"), strings.HasSuffix(field, "!"), true
		}
	}
	return false, false, false
}

// skip finds the first word of the command: len(words) if there is none. It is not ok
// where an option is not known.
func (w wrapper) skip(words []Word) (at int, ok bool) {
	for at = 1; at < len(words); at++ {
		if !words[at].Literal {
			return at, false
		}
		text := string(words[at].Text)
		if text == "--" {
			at++
			break
		}
		if len(text) < 2 || text[0] != '-' {
			break
		}
		if strings.HasPrefix(text, "--") {
			name, _, attached := strings.Cut(text, "=")
			value, _, ok := w.option(name)
			if !ok {
				return at, false
			}
			if value && !attached {
				at++
			}
			continue
		}
		if w.number && isNumber([]byte(strings.TrimLeft(text, "-+"))) {
			continue
		}
		for i := 1; i < len(text); i++ {
			value, query, ok := w.option("-" + text[i:i+1])
			if !ok {
				return at, false
			}
			if query {
				return len(words), true
			}
			if value {
				if i+1 == len(text) {
					at++
				}
				break
			}
		}
	}
	for w.assigns && at < len(words) && IsAssignment(words[at].Text) {
		at++
	}
	return min(at+w.operands, len(words)), true
}

// replaces reports whether an option of xargs puts its input where the program's name
// stands: some do with -I cat what others do with -I {}.
func (w wrapper) replaces(options []Word, program []byte) bool {
	for i, o := range options[1:] {
		text := o.Text
		var mark []byte
		switch at := bytes.IndexAny(text, "IJ"); {
		case bytes.HasPrefix(text, []byte("--replace=")):
			mark = text[len("--replace="):]
		case len(text) < 2 || text[0] != '-' || text[1] == '-' || at < 0:
			continue
		case at+1 < len(text):
			mark = text[at+1:]
		case i+2 < len(options):
			mark = options[i+2].Text
		}
		if len(mark) > 0 && bytes.Contains(program, mark) {
			return true
		}
	}
	return false
}

// line returns the index of the word that has the command line of env -S, alone or
// behind the option; 0 if there is none.
func (w wrapper) line(words []Word) int {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		switch {
		case bytes.HasPrefix(text, []byte("--split-string=")):
			return i
		case string(text) == "--split-string" && i+1 < len(words):
			return i + 1
		case len(text) > 1 && text[0] == '-' && text[1] != '-':
			at := bytes.IndexAny(text, "SuCP")
			switch {
			case at < 0:
			case text[at] != 'S': // the rest is a value, or the next word
				if at+1 == len(text) {
					i++
				}
			case at+1 < len(text):
				return i
			case i+1 < len(words):
				return i + 1
			}
		}
	}
	return 0
}

// known reports a program that unwrap looks at.
func known(program string) bool {
	switch program {
	case "find", "git", "deno", "awk", "gawk":
		return true
	}
	return wrapping(program) || environment.has(program) || evaluating.has(program) ||
		codeLetters(program) != "" || codeFlagsOf(program) != "" || runnerWords(program) != ""
}

// wrapping reports a program that runs a part of its words.
func wrapping(program string) bool {
	_, ok := wrapperOf(program)
	return ok || program == "eval" || shells.has(program) || loose.has(program)
}

// Wrapper reports a program that runs a part of its words.
func Wrapper(name []byte) bool {
	program := string(familiar(name))
	return wrapping(program) || runnerWords(program) == anywhere
}
