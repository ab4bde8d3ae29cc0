package project

import (
	"regexp"
	"strings"
	"sync"
)

func jvmCommands(t *tree, dir string) (list []Command) {
	if dir != "." {
		return nil
	}
	for _, file := range []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"} {
		if !t.has(dir, file) {
			continue
		}
		program := "gradle"
		if t.has(dir, "gradlew") {
			program = "./gradlew"
		}
		const options = " [-q|--quiet|--info|--offline|--no-daemon|--console *|--stacktrace|--tests *] "
		source := place(dir, file, 1)
		list = append(list,
			Command{Test, program + " test", program + options + "{test,check}", source, ""},
			Command{Build, program + " assemble", program + options + "{assemble,classes,compileJava,compileKotlin}", source, ""})
		break
	}
	if t.has(dir, "pom.xml") {
		program := "mvn"
		if t.has(dir, "mvnw") {
			program = "./mvnw"
		}
		const options = " [-q|-B|-o|-ntp|-e] "
		source := place(dir, "pom.xml", 1)
		list = append(list,
			Command{Test, program + " test", program + options + "test", source, ""},
			Command{Build, program + " compile", program + options + "{compile,test-compile}", source, ""})
	}
	return list
}

var (
	target = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9_. -]+):([^=:]|$)`) })
	recipe = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?([a-z][a-z0-9_-]*)\s*:([^=]|$)`) })
	task   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^  ([a-z][a-z0-9_:-]*):\s*$`) })
)

// runnerCommands returns the targets of make, just and task.
func runnerCommands(t *tree, dir string) (list []Command) {
	for _, file := range []string{"GNUmakefile", "Makefile"} {
		if text := t.read(dir, file); text != nil {
			program := "make"
			if dir != "." {
				program += " -C " + dir
			}
			list = append(list, group(targets(string(text), target()), dir, file,
				func(name string) string { return program + " " + name }, func(names string) string { return program + " [-s|-k] " + names })...)
			break
		}
	}
	if dir != "." {
		return list
	}
	for _, file := range []string{"justfile", "Justfile"} {
		if text := t.read(dir, file); text != nil {
			list = append(list, group(targets(string(text), recipe()), dir, file,
				func(name string) string { return "just " + name }, func(names string) string { return "just " + names })...)
		}
	}
	for _, file := range []string{"Taskfile.yml", "Taskfile.yaml"} {
		if text := t.read(dir, file); text != nil {
			_, tasks, _ := strings.Cut("\n"+string(text), "\ntasks:")
			before := strings.Count(string(text[:len(text)-len(tasks)]), "\n")
			scripts := targets(tasks, task())
			for i := range scripts {
				scripts[i].line += before
			}
			list = append(list, group(scripts, dir, file,
				func(name string) string { return "task " + name }, func(names string) string { return "task [-s|--silent] " + names })...)
		}
	}
	return list
}

// targets returns the targets of a file in which a head of a line begins each one, with the lines up to the
// next head as its text.
func targets(text string, head *regexp.Regexp) (list []script) {
	n := 0
	open := 0 // targets of the last head
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if m := head.FindStringSubmatch(line); m != nil {
			open = 0
			for name := range strings.FieldsSeq(m[1]) {
				if scriptName().MatchString(name) && len(list) < 500 {
					list = append(list, script{name, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[len(m[1]):]), ":")), n})
					open++
				}
			}
			continue
		}
		for i := range open {
			s := &list[len(list)-1-i]
			if len(s.text) < 4096 {
				s.text += "\n" + strings.TrimSpace(line)
			}
		}
	}
	return list
}
