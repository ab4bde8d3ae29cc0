package learn

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// commands returns the simple commands of a line as texts of their own, false if the line cannot be
// learned: not plain, or with a command whose meaning depends on the others, because it reads their output or
// works in a directory that they change to.
func commands(line string) (texts [][]string, ok bool) {
	var l shell.Line
	l.Read([]byte(line))
	if !l.Plain || !l.Complete || l.Excess {
		return nil, false
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Open {
			return nil, false // by itself it gets other words from every output that is passed to it
		}
		if c.Parent >= 0 {
			continue // unwrapped from another one, whose words it is
		}
		if !c.Plain || c.Moved || c.Lost || len(c.Words) == 0 {
			return nil, false
		}
		var words []string
		for _, w := range c.Words {
			words = append(words, string(w.Text))
			if !w.Literal || strings.ContainsAny(string(w.Text), "\n\r") {
				return nil, false
			}
		}
		for _, r := range c.Redirects {
			if !r.Harmless() {
				return nil, false
			}
		}
		if c.Stdin() && !programs.Readers.Has(words[0]) && !programs.Spreading.Has(words[0]) && !programs.Fed.Has(words[0]) {
			return nil, false
		}
		texts = append(texts, words)
	}
	return texts, len(texts) > 0
}

// commandsOf returns the arguments of a call with each simple command of its lines alone, also of lines that
// cannot be learned.
func (j *judge) commandsOf(call stopgate.Call, args []byte) (list [][]byte) {
	for _, l := range j.evaluate(call, args).Leaves() {
		if l.Annotation != schema.Command || l.Value.Kind() != jsonstream.String {
			continue
		}
		var line shell.Line
		line.Read([]byte(l.Value.Text()))
		for i := range line.Commands {
			var words []string
			for _, w := range line.Commands[i].Words {
				words = append(words, string(w.Text))
			}
			list = append(list, replaced(args, l.Pointer, jsonstream.AppendQuote(nil, lineOf(words))))
		}
	}
	return list
}

// replaced returns arguments with another JSON text at a pointer.
func replaced(args []byte, arg string, text []byte) []byte {
	root, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	pointer, bad := jsonstream.ParsePointer(arg)
	at, ok := pointer.Find(root)
	if err != nil || bad != nil || !ok {
		return nil
	}
	start, end := at.Span()
	return slices.Concat(args[:start], text, args[end:])
}

// lineOf is the command line of words.
func lineOf(words []string) string {
	var list [][]byte
	for _, w := range words {
		list = append(list, []byte(w))
	}
	return string(shell.AppendWords(nil, list))
}

// selectors are commands whose last words only select which tests, packages or files of the project are
// worked on, or name something new: with other words they do the same thing to another part. Everything
// else is learned exactly: a target of make, an operand of a package manager or an interpreter is a program.
var selectors = map[string][]string{
	"cargo":  {"build", "check", "clippy", "doc", "fmt", "test"},
	"dotnet": {"build", "test"},
	"git":    {"add", "branch", "commit", "switch"},
	"go":     {"build", "test", "vet"},
	"jest":   nil, "mypy": nil, "pytest": nil, "pyright": nil, "rspec": nil, "ruff": {"check", "format"}, "swift": {"build", "test"}, "tsc": nil, "vitest": nil,
	"mkdir": nil, "touch": nil,
}

// messages are options with a text that is only stored.
var messages = []string{"-m", "--message"}

// commandDrafts drafts rules for simple commands of one program.
func (f *family) commandDrafts(units []unit) (drafts []draft) {
	if f.width == wide && (!units[0].wanted || units[0].general) {
		var rest []unit
		for _, g := range group(units, skeleton) {
			if t, ok := alikeCommands(g); ok {
				f.command(draft{tool: f.tool.name, how: Subcommand, width: f.width, terms: t, units: g}, &drafts)
			} else {
				rest = append(rest, g...)
			}
		}
		units = rest
	}
	most := maxValues
	if f.width == single {
		most = 1
	}
	var enough []unit
	for _, g := range group(units, func(u *unit) string { return u.command().text }) {
		if supportOf(g).exact() {
			enough = append(enough, g...)
		}
	}
	for len(enough) > 0 {
		part, values := enough, valuesOf(enough, enough[0].commandLeaf().arg)
		if len(values) > most {
			values = values[:most]
			part = slices.DeleteFunc(slices.Clone(enough), func(u unit) bool { return !slices.Contains(values, u.command()) })
		}
		enough = slices.DeleteFunc(slices.Clone(enough), func(u unit) bool { return slices.Contains(values, u.command()) })
		if t, ok := oneOf(part[0].commandLeaf().arg, values); ok {
			f.command(draft{tool: f.tool.name, how: Exactly, width: min(f.width, exact), terms: []term{t}, units: part}, &drafts)
		}
	}
	return drafts
}

// besides leaves out what stands next to commands and the tool's own table does not declare: coverage decides about that.
func (f *family) besides(units []unit) []unit {
	if !f.tool.own {
		return units
	}
	list := slices.Clone(units)
	for i := range list {
		if list[i].words != nil {
			list[i].leaves = slices.DeleteFunc(slices.Clone(list[i].leaves), func(l leaf) bool { return l.kind != schema.Command && !f.tool.states(l.arg) })
		}
	}
	return list
}

// command ends the draft of a command: what stands next to the command is as it was approved, but for remarks.
func (f *family) command(d draft, drafts *[]draft) {
	var leaves []leaf
	for i := range d.units {
		leaves = append(leaves, d.units[i].leaves...)
	}
	for i := range d.units[0].leaves {
		l := &d.units[0].leaves[i]
		if l.kind == schema.Command || l.remark() {
			continue
		}
		t, ok := oneOf(l.arg, l.values)
		if !ok || l.content() {
			return
		}
		d.terms = append(d.terms, t)
	}
	var ok bool
	if d.terms, ok = f.tool.expressible(append(d.terms, f.absent(leaves)...)); ok {
		*drafts = append(*drafts, d)
	}
}

func (u *unit) commandLeaf() *leaf {
	i := slices.IndexFunc(u.leaves, func(l leaf) bool { return l.kind == schema.Command })
	return &u.leaves[i]
}

func (u *unit) command() value { return u.commandLeaf().values[0] }

// here begins paths of the working directory, such as packages of Go.
const here = "./"

// skeleton is a command with its selecting word, or the text of a message, left out: units with the same
// skeleton differ in that word only. It is the command itself if nothing may differ.
func skeleton(u *unit) string {
	at, message := hole(u.words)
	if at < 0 {
		return "=" + u.command().text
	}
	rest := slices.Clone(u.words)
	rest[at] = ""
	return fmt.Sprintf("%t %t %q", message, strings.HasPrefix(u.words[at], here), rest)
}

// hole is the index of the word of a command that may differ, and whether it is a message; -1 for none.
func hole(words []string) (at int, message bool) {
	sub, ok := selectors[words[0]]
	if !ok || len(words) < 2 || sub != nil && (len(words) < 3 || !slices.Contains(sub, words[1])) {
		return -1, false
	}
	for i := 2; i < len(words); i++ {
		if words[0] == "git" && slices.Contains(messages, words[i-1]) {
			return i, true
		}
	}
	last := len(words) - 1
	if words[0] == "git" && words[1] == "commit" || !wordLike().MatchString(strings.TrimPrefix(words[last], here)) {
		return -1, false
	}
	if strings.HasPrefix(words[last-1], "-") && words[last-1] != "--" && last-1 > 0 && !flagOnly(words[last-1]) {
		return -1, false // it may be the value of an option
	}
	return last, false
}

// flagOnly reports options that never have a value in the programs of selectors.
func flagOnly(option string) bool {
	return slices.Contains([]string{"-v", "-q", "-p", "-x", "-race", "-short", "--quiet", "--verbose", "--release", "--package", "-c"}, option)
}

// alikeCommands returns the conditions for commands with one skeleton, false if the approvals are not enough.
func alikeCommands(units []unit) ([]term, bool) {
	at, message := hole(units[0].words)
	if at < 0 {
		return nil, false
	}
	var values []value
	for i := range units {
		if v := (value{is: jsonstream.String, text: strings.TrimPrefix(units[i].words[at], here)}); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if !supportOf(units).wide(len(values)) {
		return nil, false
	}
	arg, words := units[0].commandLeaf().arg, slices.Clone(units[0].words)
	for i, w := range words {
		if i != at && !plainOption().MatchString(w) {
			return nil, false
		}
	}
	words[at] = "*"
	usage := term{arg: arg, condition: "usage = " + tomltree.Quote(synopsis(words)), sentence: "commands like " + strings.Join(words, " ")}
	if message {
		return []term{usage}, true
	}
	found, ok := separators(values)
	if !ok {
		return nil, false
	}
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	words[at] = wordPattern(found)
	if strings.HasPrefix(units[0].words[at], here) { // of all, see skeleton
		words[at] = regexp.QuoteMeta(here) + words[at]
	}
	return []term{usage, {arg: arg, condition: "pattern = " + tomltree.Quote("^"+strings.Join(words, " ")+"$")}}, true
}

// plainOption are words that mean themselves in a usage and in a shell.
var plainOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@+-]+$`) })

// synopsis writes words as a usage: options in brackets, which may then be anywhere.
func synopsis(words []string) string {
	var parts []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case i > 0 && strings.HasPrefix(w, "-") && i+1 < len(words) && words[i+1] == "*" && slices.Contains(messages, w):
			parts = append(parts, "["+w+" *]")
			i++
		case i > 0 && strings.HasPrefix(w, "-"):
			parts = append(parts, "["+w+"]")
		default:
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}
