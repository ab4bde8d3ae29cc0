package shell

import (
	"bytes"
	"strings"
	"sync"
)

// runnerTable lists programs that run a part of their words, whatever their options:
// behind one of some words, or anywhere, "*". What they run is only suspected; whether
// they may run at all is a matter of rules that name them.
const runnerTable = `
docker podman nerdctl: exec run
docker-compose podman-compose: exec run
kubectl oc: exec run debug
uv poetry pipenv pdm hatch rye conda mamba micromamba: run
npm: exec x
pnpm yarn: exec dlx
bundle mise asdf rbenv pyenv direnv: exec x
nix nix-shell: -c --command --run shell develop run
ip: exec
chronic ifne pee nodemon watchexec cross-env dotenv concurrently hyperfine valgrind perf heaptrack rr numactl cpulimit prlimit: *
softlimit envdir chpst setuidgid s6-setuidgid gosu su-exec tini dumb-init torsocks proxychains proxychains4 tsocks cgexec choom: *
aa-exec setpriv logsave nocache eatmydata faketime catchsegv dtach abduco daemonize i3-msg swaymsg: *
`

// anywhere stands for every place behind the program's name.
const anywhere = "*"

// runners are the programs of the table with the words behind which they run something.
var runners = sync.OnceValue(func() map[string]map[string]bool {
	table := map[string]map[string]bool{}
	for line := range strings.Lines(runnerTable) {
		names, behind, _ := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			table[name] = setOf(behind)
		}
	}
	return table
})

// RunsBehind reports that the program may run the words behind one of its words.
func RunsBehind(program, word []byte) bool {
	return len(word) > 0 && runners()[string(familiar(Base(program)))][string(word)]
}

// runner reads the words of a runner that can only be command lines: those with blanks.
func (l *Line) runner(i int, behind map[string]bool, depth int) {
	c := l.Commands[i]
	running := behind[anywhere]
	for at := 1; at < len(c.Words); at++ {
		text := c.Words[at].Text
		if running && bytes.ContainsAny(text, " \t\n;&|<>") {
			l.Commands[i].Runs = true
			l.suspect(i, at, text)
		}
		running = running || behind[string(text)]
	}
}

// suspect reads a text at one word of a command as what the command may run. The line
// stays as plain as it was: who permits has to ask for [Command.Runs].
func (l *Line) suspect(i, at int, text []byte) {
	plain, before := l.Commands[i].Plain, len(l.Commands)
	l.cut(text, parent{i, at, at + 1})
	for k := before; k < len(l.Commands); k++ {
		l.Commands[k].End, l.Commands[k].Plain = k+1, plain
	}
}

// gnu are programs that have a g before their names where others have the name.
var gnu = set("env timeout nice nohup stdbuf xargs find sort split time")

// familiar is the name under which the tables know a program: in lower case, without
// .exe, and without the version or the g that some systems write.
func familiar(program []byte) []byte {
	if hasUpper(program) {
		program = bytes.ToLower(program)
	}
	if !oddName(program) {
		return program
	}
	program = bytes.TrimSuffix(program, exe)
	stem := bytes.TrimRight(program, "0123456789.-")
	switch {
	case known()[string(program)]:
	case known()[string(stem)]:
		return stem
	case len(program) > 1 && program[0] == 'g' && gnu()[string(program[1:])]:
		return program[1:]
	}
	return program
}

var exe = []byte(".exe")

// oddName reports a name that may be known without its end, or its beginning.
func oddName(name []byte) bool {
	if len(name) < 2 {
		return false
	}
	last := name[len(name)-1]
	return last >= '0' && last <= '9' || last|0x20 == 'e' && len(name) > len(exe) && bytes.EqualFold(name[len(name)-len(exe):], exe) ||
		name[0] == 'g' && gnu()[string(name[1:])] || hasUpper(name)
}
