package hosts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/host/trust"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/visible"
)

// examine looks at one settings file and reports whether there is a hook in it.
func examine(ctx context.Context, h *hook.Host, project bool) (c checkup, there bool) {
	f := installFlags{project: project}
	p, err := f.at(h.Name)
	if err != nil {
		return c, false
	}
	at, err := f.place()
	if err != nil {
		return c, false
	}
	c = checkup{Host: h.Name, Scope: at.Scope, File: p.File, Status: "broken", Holes: h.Gaps(), program: h.Program}
	text, err := readSettings(p.File)
	if err == nil && text == nil {
		return c, false
	}
	if err != nil {
		c.Problem = err.Error()
		return c, true
	}
	c.Commands = p.Lines(text)
	switch {
	case len(c.Commands) == 0 && !bytes.Contains(text, []byte("stopgate")):
		return c, false
	case len(c.Commands) == 0 && p.Check(text) != nil:
		c.Problem = visible.Text(p.Check(text).Error()) + ", and nobody knows what " + h.Title + " makes of them"
		return c, true
	case len(c.Commands) == 0:
		c.Problem, c.Hint = "the settings name stopgate, but no hook in them starts it before a tool", c.renewal("")
		return c, true
	}
	for _, line := range c.Commands {
		if problem := programProblem(line); problem != "" {
			c.Problem, c.Hint = problem, c.renewal(line)
			if _, err := os.Stat(programOf(line)); err != nil && !strings.Contains(line, " --observe") {
				return c, true // it blocks, and its answer would not explain why
			}
		}
		began := time.Now()
		reply, err := canary(ctx, h, line)
		c.Millis = time.Since(began).Milliseconds()
		said := string(reply.Stdout) + string(reply.Stderr)
		switch {
		case err != nil:
			c.Problem = err.Error()
		case strings.Contains(line, " --observe") && reply.Exit == 0:
			c.Status, c.Problem = "observing", "nothing is held back: the hook was installed with --observe"
			return c, true
		case !h.Blocks(reply):
			c.Problem = "a call that must be denied was not: " + visible.Elide(said, 200)
			c.Hint = c.renewal(line)
		case !hook.IsPolicyDenial(said):
			c.Problem = "every call is denied, for another reason than its rules: " + visible.Elide(causeOf(string(reply.Stderr)), 300)
			c.Hint = "stopgate check"
			if strings.Contains(said, string(diag.Untrusted)) {
				c.Hint = "stopgate trust, if you wrote that file"
			}
		default:
			if problem := c.alone(ctx, h, at, line); problem != "" {
				c.Problem, c.Hint = problem, ""
				break
			}
			c.Status = "guarded"
			for _, q := range p.Also {
				if text, _ := readSettings(q.File); c.Problem == "" && len(q.Lines(text)) == 0 {
					c.Problem, c.Hint = "the gate hears nothing of "+filepath.Base(q.File)+": "+visible.Text(q.File)+" does not start it", c.renewal(line)
				}
			}
			if c.Outdated = outdated(h, at, line, text); c.Outdated && c.Problem == "" {
				c.Problem = "an older stopgate wrote the settings, or somebody changed them: this one would write them differently"
				c.Hint = c.renewal(line)
			}
			continue
		}
		c.Status = "broken"
		return c, true
	}
	t := trust.Of(ctx, h, at, c.File, c.Commands)
	switch {
	case t.Missing != "":
		c.Status, c.Problem, c.Hint = "untrusted", t.Missing, h.TrustHint
	case t.Unsure != "" && c.Problem == "":
		c.Problem = t.Unsure
	}
	return c, true
}

// renewal is the command that renews the installation of a hook, with the flags of a command
// line.
func (c *checkup) renewal(line string) string {
	words := []string{"stopgate", "install", c.Host}
	if c.Scope == install.Project {
		words = append(words, "--project")
	}
	command, _ := install.Parse(line)
	for _, flag := range command.Flags {
		if !strings.HasPrefix(flag, "--") {
			flag = visible.ShellWord(flag)
		}
		words = append(words, flag)
	}
	return strings.Join(words, " ")
}

// outdated reports whether this stopgate would write other settings for the program and flags of
// a command line. A line that was written by hand is not outdated.
func outdated(h *hook.Host, at install.Location, line string, text []byte) bool {
	command, ok := install.Parse(line)
	if !ok {
		return false
	}
	p, err := install.Make(h.Name, at, command)
	if err != nil || !p.Installed(text) {
		return err == nil
	}
	for _, q := range p.Also {
		if there, err := readSettings(q.File); err == nil && len(q.Lines(there)) > 0 && !q.Installed(there) {
			return true
		}
	}
	return false
}

// programOf is the program that a command line starts.
func programOf(line string) string {
	path, _ := install.Program(line)
	return path
}

// programProblem reports that the program of a command line does not exist, or that the small
// one has another version than this stopgate.
func programProblem(line string) string {
	path, small := install.Program(line)
	if !filepath.IsAbs(path) {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		if strings.Contains(line, " --observe") {
			return visible.Text(path) + " is not there: nothing is recorded"
		}
		return visible.Text(path) + " is not there: every call is blocked"
	}
	if !small || !isSmall(path) {
		return ""
	}
	full := filepath.Join(filepath.Dir(path), "stopgate"+filepath.Ext(path))
	if _, err := os.Stat(full); err != nil {
		return visible.Text(full) + " is not there: policies with judges, and questions that somebody is told of, need it beside " + process.SmallName
	}
	if theirs, ours := smallVersion(path), release.Line(process.SmallName); theirs != ours {
		return fmt.Sprintf("%s is another version than this stopgate: it says %q, not %q", visible.Text(path), visible.Text(theirs), ours)
	}
	return ""
}
