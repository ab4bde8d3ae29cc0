package protected

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// administration reports whether a subcommand of stopgate answers questions or removes the gate
// (S4).
func administration(subcommand []byte) bool {
	switch string(subcommand) {
	case "approvals", "grants", "install", "learn", "uninstall", "sessions", "pin", "lockdown", "trust", "start", "stop":
		return true
	}
	return false
}

// Command evaluates a command line: administration of stopgate, configuration of git, and every
// word that may be a protected path. entry describes the match.
func (p *List) Command(line []byte) (protection condition.Protection, entry string) {
	var v condition.Value
	v.Reset(line)
	return p.CommandOf(&v)
}

// CommandOf is Command for a value that other conditions share: the line is parsed once.
func (p *List) CommandOf(value *condition.Value) (protection condition.Protection, entry string) {
	if !value.Valid() || len(value.Text()) > condition.Budget {
		return condition.UnknownTarget, tooManyReadings
	}
	v := commandline.Of(value)
	lines := []*shell.Line{v.Line()}
	if other := v.OtherLine(); other != nil {
		lines = append(lines, other)
	}
	for _, l := range lines {
		if l.Excess && protection < condition.UnknownTarget { // the part that was not parsed may match
			protection, entry = condition.UnknownTarget, tooManyReadings
		}
		for i := range l.Commands {
			if q, e := p.judgeLine(v, &l.Commands[i], !l.Excess); q > protection {
				protection, entry = q, e
			}
		}
	}
	return protection, entry
}

// judgeLine evaluates one simple command. Every word counts in every position. With puts, files that
// are put into directories count too.
func (p *List) judgeLine(v *commandline.Value, c *shell.Command, puts bool) (protection condition.Protection, entry string) {
	raise := func(q condition.Protection, e string) {
		if q > protection {
			protection, entry = q, e
		}
	}
	path := func(text []byte, literal bool) (protection condition.Protection, entry string) {
		ctx := &p.shell
		if literal {
			ctx = &p.literal
		}
		c.Candidates(text, func(text []byte) bool {
			if q, e := p.judgeFrom(v.Word(text), ctx); q > protection {
				protection, entry = q, e
			}
			return true
		})
		return protection, entry
	}
	names := c.Plain && !c.Feeds && shell.ShowsNames(c.Program())
	var program string // stopgate or git, once it is named
	for i := range c.Words {
		word := c.Words[i].Text
		if len(word) == 0 {
			continue
		}
		name := programs.Base(word)
		switch {
		case bytes.EqualFold(name, []byte("stopgate")):
			program = "stopgate"
		case bytes.EqualFold(name, []byte("git")):
			program = "git"
		case program == "stopgate" && administration(word):
			raise(condition.DeniedTarget, "stopgate "+string(word))
		case program == "git" && string(word) == "config" && !readsConfig(c.Words[i+1:]):
			raise(condition.AskedTarget, "git config")
		}
		if names && c.Words[i].Glob && !c.Words[i].Literal && !pathform.AimsAtDot(string(word)) {
			continue // "s*" may be stopgate.sock, but ls shows no more than with "*"
		}
		if word[0] != '-' {
			if q, e := path(word, c.Words[i].Literal); q != condition.UnknownTarget || !looksUp(c, i) {
				raise(q, e)
			}
		} else if len(word) > 2 && bytes.ContainsAny(word, "./") { // -oFILE
			raise(path(word[2:], c.Words[i].Literal))
		}
		if at := bytes.IndexByte(word, '='); at >= 0 {
			raise(path(word[at+1:], c.Words[i].Literal))
		}
	}
	if puts && c.Puts() {
		raise(p.placed(v, c))
	}
	for i := range c.Redirects {
		raise(path(c.Redirects[i].Target.Text, c.Redirects[i].Target.Literal))
	}
	return protection, entry
}

// placed evaluates the files that a command puts into directories.
func (p *List) placed(v *commandline.Value, c *shell.Command) (protection condition.Protection, entry string) {
	effect.Placed(c, func(w *shell.Word, _ effect.Use, _ bool) bool {
		ctx := &p.shell
		if w.Literal {
			ctx = &p.literal
		}
		c.Candidates(w.Text, func(text []byte) bool {
			if q, e := p.judgeFrom(v.Word(text), ctx); q > protection {
				protection, entry = q, e
			}
			return true
		})
		return true
	})
	return protection, entry
}

// readsConfig reports whether arguments of git config only print.
func readsConfig(args []shell.Word) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.TrimLeft(string(args[0].Text), "-") {
	case "get", "get-all", "get-regexp", "list", "l", "show-origin":
		return true
	}
	return false
}

// looksUp reports whether a word is the name of a program that the shell searches, wherever the
// command works.
func looksUp(c *shell.Command, i int) bool {
	return i == 0 && c.Words[0].Literal && bytes.IndexByte(c.Words[0].Text, '/') < 0
}

// unknownPath returns the unknown facts of a path.
func (p *List) unknownPath(v *condition.Value) condition.Unknown {
	if !v.Valid() {
		return condition.UnknownReading
	}
	return p.context.Missing(pathform.Of(v))
}

// unknownCommand returns the unknown facts of a command line, [condition.Known] if its length leaves
// out readings.
func (p *List) unknownCommand(value *condition.Value) (unknown condition.Unknown) {
	switch {
	case !value.Valid():
		return condition.UnknownReading
	case len(value.Text()) > condition.Budget:
		return condition.Known
	}
	v := commandline.Of(value)
	for _, l := range []*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			unknown |= condition.UnknownCommand
		}
		for i := range l.Commands {
			c := &l.Commands[i]
			look := func(w *shell.Word) {
				c.Candidates(w.Text, func(text []byte) bool {
					unknown |= p.shell.Missing(pathform.Of(v.Word(text)))
					return true
				})
			}
			for k := range c.Words {
				if !looksUp(c, k) {
					look(&c.Words[k])
				}
			}
			for k := range c.Redirects {
				look(&c.Redirects[k].Target)
			}
		}
	}
	return unknown
}
