package shell

import (
	"bytes"
	"strings"
	"sync"
)

// shells read a command line behind -c.
var shells = set("sh bash dash zsh ksh mksh oksh ash fish rbash rzsh yash")

// environment are builtins that change how later words are read (E21, E26).
var environment = set("alias unalias enable hash trap shopt set bind complete compgen unset")

// evaluating are builtins that some shell lets evaluate their words once more, as
// arithmetic or as the name of a variable.
var evaluating = set("printf print test [ let read unset declare typeset local export readonly wait getopts mapfile readarray ulimit return exit shift")

// interpreters, and the letters of their options that take code.
var interpreters = map[string]string{
	"python": "c", "python2": "c", "python3": "c", "pypy3": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "ep",
	"php": "rBRE", "lua": "e", "luajit": "e", "osascript": "e", "rscript": "e", "r": "e", "julia": "eE", "elixir": "e", "erl": "e", "ghc": "e", "groovy": "e", "tclsh": "c",
}

// loose wrappers run a part of their words, or a text, in a way that depends on more
// than their options.
var loose = set(`. source su ssh watch parallel sem script busybox toybox flock npx bunx pnpx uvx runuser pkexec systemd-run unshare nsenter
	chroot taskset setarch linux32 linux64 strace ltrace gdb entr powershell pwsh cmd csh tcsh start-stop-daemon dbus-run-session
	proot fakeroot firejail bwrap expect unbuffer rlwrap ts osh ysh oil nu elvish xonsh capsh sg at batch tmux screen`)

// wrapper says how to find the command behind a wrapper's own options.
type wrapper struct {
	flags, values         string // options of one letter, without and with a value
	longFlags, longValues map[string]bool
	operands              int    // words between the options and the command
	assigns               bool   // NAME=value may stand there
	open                  bool   // the command gets more words
	lineFlag              bool   // its -S takes a command line
	queries               string // options with which nothing is run
	number                bool   // -5 is an option
}

// The table of wrappers that are understood: name, options (with ":" for those that
// have a value, "!" for those with which nothing is run), number of operands, "=" if
// assignments may follow, "..." if the command gets more words.
const wrapperTable = `
env       -i -0 -v -u: -C: -P: --ignore-environment --null --debug --unset: --chdir: -S: --split-string: =
timeout   -f -v -p -k: -s: --foreground --verbose --preserve-status --kill-after: --signal: 1
nice      -# -n: --adjustment:
nohup
setsid    -c -f -w --ctty --fork --wait
stdbuf    -i: -o: -e: --input: --output: --error:
ionice    -t -c: -n: --ignore --class: --classdata:
chrt      -b -f -i -o -r 1
time      -p -l -v -a -f: -o: --portability --verbose --format:
command   -p -v! -V!
builtin
exec      -c -l -a:
sudo      -n -S -E -H -k -b -A -i -s -u: -g: -p: -C: -D: -h: -r: -t: --non-interactive --preserve-env --user: --group: =
doas      -n -s -u: -C:
xargs     -0 -r -t -p -x -o -I: -n: -P: -s: -L: -d: -a: -E: -J: -R: --null --no-run-if-empty --verbose --max-args: --max-procs: --delimiter: --replace: --max-lines: --arg-file: ...
caffeinate -d -i -m -s -u -t: -w:
arch      -# -e: -d: -c
`

var wrappers = sync.OnceValue(func() map[string]*wrapper {
	table := map[string]*wrapper{}
	for line := range strings.Lines(wrapperTable) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		w := &wrapper{longFlags: map[string]bool{}, longValues: map[string]bool{}}
		for _, f := range fields[1:] {
			w.learn(f)
		}
		if fields[0] == "env" {
			w.lineFlag = true
		}
		table[fields[0]] = w
	}
	return table
})

func (w *wrapper) learn(f string) {
	switch name, value := strings.CutSuffix(f, ":"); {
	case f == "=":
		w.assigns = true
	case f == "...":
		w.open = true
	case f == "-#":
		w.number = true
	case f == "1":
		w.operands = 1
	case strings.HasSuffix(f, "!"):
		w.queries += f[1:2]
	case strings.HasPrefix(f, "--") && value:
		w.longValues[name] = true
	case strings.HasPrefix(f, "--"):
		w.longFlags[f] = true
	case value:
		w.values += name[1:]
	default:
		w.flags += f[1:]
	}
}

// skip finds the first word of the command: len(words) if there is none. It is not ok
// where an option is not known.
func (w *wrapper) skip(words []Word) (at int, ok bool) {
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
			switch {
			case w.longFlags[name]:
			case w.longValues[name] && !attached:
				at++
			case !w.longValues[name]:
				return at, false
			}
			continue
		}
		if w.number && isNumber([]byte(strings.TrimLeft(text, "-+"))) {
			continue
		}
		for i := 1; i < len(text); i++ {
			switch f := text[i]; {
			case strings.IndexByte(w.queries, f) >= 0:
				return len(words), true
			case strings.IndexByte(w.flags, f) >= 0:
			case strings.IndexByte(w.values, f) >= 0:
				if i+1 == len(text) {
					at++
				}
				i = len(text)
			default:
				return at, false
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
func (w *wrapper) replaces(options []Word, program []byte) bool {
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
func (w *wrapper) line(words []Word) int {
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

// known are the programs that unwrap looks at.
var known = words(sync.OnceValue(func() map[string]bool {
	m := setOf("eval find git deno")
	for _, more := range []map[string]bool{shells(), environment(), loose(), evaluating(), setOf(codeFlagNames())} {
		for name := range more {
			m[name] = true
		}
	}
	for name := range interpreters {
		m[name] = true
	}
	for name := range runners() {
		m[name] = true
	}
	for line := range strings.Lines(wrapperTable) {
		if f := strings.Fields(line); len(f) > 0 {
			m[f[0]] = true
		}
	}
	return m
}))

// wrapping are the programs that run a part of their words.
var wrapping = words(sync.OnceValue(func() map[string]bool {
	m := setOf("eval")
	for _, more := range []map[string]bool{shells(), loose()} {
		for name := range more {
			m[name] = true
		}
	}
	for line := range strings.Lines(wrapperTable) {
		if f := strings.Fields(line); len(f) > 0 {
			m[f[0]] = true
		}
	}
	return m
}))

// Wrapper reports a program that runs a part of its words.
func Wrapper(name []byte) bool {
	name = familiar(name)
	return wrapping()[string(name)] || runners()[string(name)][anywhere]
}
