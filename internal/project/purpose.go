package project

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// names of scripts, targets and recipes by purpose. A suffix says which part: test:unit, lint-go.
var names = sync.OnceValue(func() []named {
	return []named{
		{Test, regexp.MustCompile(`^(test|tests|unit|unittest|check|spec)([:_-](unit|fast|short|quick|unittest|ci|all|race|go|js|ts|py|lib))?$`)},
		{Lint, regexp.MustCompile(`^(lint|vet|typecheck|type-check|types|tsc|fmt-check|format-check|format:check|fmt:check|check-format|check:types)([:_-](go|js|ts|py|css|all|ci|types))?$`)},
		{Build, regexp.MustCompile(`^(build|compile)([:_-](go|js|ts|lib|all|dev|types))?$`)},
	}
})

// named is the names that a purpose has.
type named struct {
	purpose Purpose
	is      *regexp.Regexp
}

// purposeOf returns the purpose of a name, false if it has none of them.
func purposeOf(name string) (Purpose, bool) {
	for _, n := range names() {
		if n.is.MatchString(name) {
			return n.purpose, true
		}
	}
	return "", false
}

// reaches matches scripts that may do more than test, build or check: send, delete, publish or install. A
// match leaves the command out. It is a courtesy for honest scripts and no protection: a script can do this
// in a thousand ways, which is why commands ask unless a person has read the list.
var reaches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(publish|deploy|release|upload|push|curl|wget|\bssh\b|\bscp\b|rsync|sudo|\brm\s+-|rimraf|git\s+(clean|reset|checkout|stash)|docker|kubectl|terraform|\baws\b|gcloud|\bnpx\b|install|eval|base64|/dev/tcp|\bnc\b)`)
})

// lineOf returns the number of the line of an offset.
func lineOf(text []byte, at int) int { return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n")) }

func place(dir, file string, line int) string { return fmt.Sprintf("%s:%d", join(dir, file), line) }

// find returns the line of the first match of a text in a file, 0 for none.
func find(text []byte, word string) int {
	at := bytes.Index(text, []byte(word))
	if at < 0 {
		return 0
	}
	return lineOf(text, at)
}

// script is a named command of a file.
type script struct {
	name, text string
	line       int
}

// maxScripts are the scripts of one file that become commands.
const maxScripts = 12

// group returns the commands of the scripts that have a purpose. All have one usage, in which the names are
// alternatives.
func group(scripts []script, dir, file string, line, usage func(name string) string) (list []Command) {
	var words []string
	for _, n := range names() {
		for _, s := range scripts {
			purpose, ok := purposeOf(s.name)
			if !ok || purpose != n.purpose || reaches().MatchString(s.text) || slices.Contains(words, s.name) || len(words) == maxScripts {
				continue
			}
			words = append(words, s.name)
			list = append(list, Command{n.purpose, line(s.name), "", place(dir, file, s.line), strings.TrimSpace(s.text)})
		}
	}
	if len(words) == 0 {
		return nil
	}
	pattern := words[0]
	if len(words) > 1 {
		pattern = "{" + strings.Join(words, ",") + "}"
	}
	for i := range list {
		list[i].Usage = usage(pattern)
	}
	return list
}

// scriptName matches the names that a usage may have.
var scriptName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*([:_-][a-z0-9]+)*$`) })
