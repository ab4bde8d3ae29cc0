package project

import (
	"regexp"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/jsonstream"
)

// scriptsOf returns the scripts of a package.json or composer.json, in the order of the file, and the root
// of the file.
func scriptsOf(text []byte) (scripts []script, root jsonstream.Value) {
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxBytes: maxFile})
	if err != nil {
		return nil, root
	}
	table, _ := root.Get("scripts")
	all := map[string]string{}
	for key, v := range table.Members() {
		if v.Kind() == jsonstream.String {
			all[key.Text()] = v.Text()
		}
	}
	for key, v := range table.Members() {
		name := key.Text()
		if v.Kind() != jsonstream.String || !scriptName().MatchString(name) || len(name) > 40 {
			continue
		}
		at, _ := key.Span()
		// Package managers run these two around the script.
		around := all["pre"+name] + " " + all["post"+name]
		if reaches().MatchString(around) {
			continue
		}
		scripts = append(scripts, script{name, v.Text(), lineOf(text, at)})
		if len(scripts) == 200 {
			break
		}
	}
	return scripts, root
}

// managers are the package managers of Node by their lock files.
var managers = []struct{ lock, name string }{
	{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"},
}

// manager returns the package manager of a directory: that of package.json, of its lock file, or of the lock
// file of a directory above, as in workspaces.
func (t *tree) manager(dir string, root jsonstream.Value) string {
	if v, ok := root.Get("packageManager"); ok {
		name, _, _ := strings.Cut(v.Text(), "@")
		for _, m := range managers {
			if m.name == name {
				return name
			}
		}
	}
	for {
		for _, m := range managers {
			if t.has(dir, m.lock) {
				return m.name
			}
		}
		if dir == "." {
			return "npm"
		}
		dir = join(dir, "..")
	}
}

// testRunners are programs that take the words after them as names of files and tests.
var testRunners = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(jest|vitest|vitest run|mocha|ava|tap|eslint|tsc|node --test)( [a-zA-Z0-9./_=-]+)*$`)
})

func nodeCommands(t *tree, dir string) []Command {
	text := t.read(dir, "package.json")
	if text == nil {
		return nil
	}
	scripts, root := scriptsOf(text)
	m := t.manager(dir, root)
	program, quiet := m, ""
	switch m {
	case "npm", "pnpm":
		quiet = " [-s|--silent]"
	}
	if dir != "." {
		program += map[string]string{"npm": " --prefix ", "pnpm": " -C ", "yarn": " --cwd ", "bun": " --cwd "}[m] + dir
	}
	var list []Command
	for _, runner := range []bool{true, false} {
		var some []script
		operands := ""
		for _, s := range scripts {
			if testRunners().MatchString(s.text) == runner {
				some = append(some, s)
			}
		}
		if runner {
			operands = " **"
		}
		for _, c := range group(some, dir, "package.json", func(name string) string { return program + " run " + name },
			func(names string) string { return program + quiet + " run " + names + operands }) {
			if c.Line == program+" run test" && m != "bun" { // "bun test" is a runner of bun
				list = append(list, Command{c.Purpose, program + " test", program + quiet + " test" + operands, c.Source, c.Script})
			}
			list = append(list, c)
		}
		if m == "yarn" || m == "pnpm" { // "yarn lint" is "yarn run lint"
			list = append(list, group(some, dir, "package.json", func(name string) string { return program + " " + name },
				func(names string) string { return program + quiet + " " + names + operands })...)
		}
	}
	return list
}

func phpCommands(t *tree, dir string) (list []Command) {
	text := t.read(dir, "composer.json")
	if text == nil || dir != "." {
		return nil
	}
	scripts, root := scriptsOf(text)
	list = group(scripts, dir, "composer.json", func(name string) string { return "composer " + name }, func(names string) string { return "composer [-q|--quiet] " + names })
	for _, key := range []string{"require-dev", "require"} {
		if needs, ok := root.Get(key); ok {
			if start, _, ok := needs.MemberSpan("phpunit/phpunit"); ok {
				list = append(list, Command{Test, "vendor/bin/phpunit", "vendor/bin/phpunit [--filter *|--testdox|--stop-on-failure] **", place(dir, "composer.json", lineOf(text, start)), ""})
				break
			}
		}
	}
	return list
}
