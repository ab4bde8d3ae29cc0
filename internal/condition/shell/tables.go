package shell

import (
	"bytes"
	"strings"
)

// words is a set of words, laid out by the linker and searched linearly: a process that evaluates
// one call should not build a map first, and a map is not faster for so few words.
type words []string

func (w words) has(word string) bool {
	for _, s := range w {
		if len(s) == len(word) && s[0] == word[0] && s == word {
			return true
		}
	}
	return false
}

// shells read a command line after -c.
var shells = words{"sh", "bash", "dash", "zsh", "ksh", "mksh", "oksh", "ash", "fish", "rbash", "rzsh", "yash"}

// environment are builtins that change how later words are read (E21, E26).
var environment = words{"alias", "unalias", "enable", "hash", "trap", "shopt", "set", "bind", "complete", "compgen", "unset"}

// evaluating are builtins that some shells let evaluate their words again, as arithmetic or as the
// name of a variable.
var evaluating = words{
	"printf", "print", "test", "[", "let", "read", "unset", "declare", "typeset", "local", "export", "readonly", "wait", "getopts", "mapfile",
	"readarray", "ulimit", "return", "exit", "shift",
}

// listed reports whether a word is in a short list that is separated by blanks.
func listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// codeLetters returns the letters of an interpreter's options that take code, "" for other
// programs.
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

// loose wrappers run a part of their words, or a text, in a way that depends on more than their
// options.
var loose = words{
	".", "source", "su", "ssh", "watch", "parallel", "sem", "script", "busybox", "toybox", "flock", "npx", "bunx", "pnpx", "uvx", "runuser", "pkexec",
	"systemd-run", "unshare", "nsenter", "chroot", "taskset", "setarch", "linux32", "linux64", "strace", "ltrace", "gdb", "entr", "powershell", "pwsh",
	"cmd", "csh", "tcsh", "start-stop-daemon", "dbus-run-session", "proot", "fakeroot", "firejail", "bwrap", "expect", "unbuffer", "rlwrap", "ts", "osh",
	"ysh", "oil", "nu", "elvish", "xonsh", "capsh", "sg", "at", "batch", "tmux", "screen",
}

// wrapper describes how to find the command after a wrapper's own options.
type wrapper struct {
	options  string // with ":" for those with a value, "!" for those with which nothing is run
	operands int    // words between the options and the command
	assigns  bool   // NAME=value may be among them
	open     bool   // the command gets more words
	lineFlag bool   // its -S takes a command line
	number   bool   // -5 is an option
}

// wrapperOf returns the description of a known wrapper.
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

// option looks up an option and returns whether it has a value, and whether nothing is run with it.
func (w wrapper) option(name string) (value, query, ok bool) {
	for field := range strings.FieldsSeq(w.options) {
		if strings.TrimRight(field, ":!") == name {
			return strings.HasSuffix(field, ":"), strings.HasSuffix(field, "!"), true
		}
	}
	return false, false, false
}

// skip returns the index of the first word of the command, len(words) if there is none. ok is false
// if an option is unknown.
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

// replaces reports whether an option of xargs replaces the program's name by its input, as -I cat
// does with cat.
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

// line returns the index of the word with the command line of env -S, in the option or after it; 0
// if there is none.
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

// known reports whether unwrap handles a program.
func known(program string) bool {
	switch program {
	case "find", "git", "deno", "awk", "gawk":
		return true
	}
	return wrapping(program) || environment.has(program) || evaluating.has(program) ||
		codeLetters(program) != "" || codeFlagsOf(program) != "" || runnerWords(program) != ""
}

// wrapping reports whether a program runs a part of its words.
func wrapping(program string) bool {
	_, ok := wrapperOf(program)
	return ok || program == "eval" || shells.has(program) || loose.has(program)
}

// Wrapper reports whether a program runs a part of its words.
func Wrapper(name []byte) bool {
	program := string(familiar(name))
	return wrapping(program) || runnerWords(program) == anywhere
}
