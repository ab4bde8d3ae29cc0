package inputs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/visible"
)

// Rule is a rule of the policy files that apply here, or of a pack that they use.
type Rule struct {
	ID   stopgate.RuleID `json:"id"`
	File string          `json:"file"` // or the pack, "pack:go"
	Line int             `json:"line"` // 1-based
	Tool string          `json:"tool"` // the name or the glob of its table, "" for a guard
	// Result reports that the rule is about results of the tool.
	Result bool   `json:"result,omitempty"`
	Text   string `json:"text"` // as it is written
}

// Where returns the place of the rule as records and messages name it.
func (r *Rule) Where() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// Rules lists the rules of policy files, without files those that apply here, in their order. Rules with mistakes are left out.
func Rules(files []string) (list []Rule, err error) {
	parsed, err := parsedFiles(files)
	for _, f := range parsed {
		list = append(list, rulesOf(f)...)
	}
	return list, err
}

// parsedFiles parses policy files, without files those that apply here.
func parsedFiles(files []string) (parsed []*syntax.File, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the policy: %w", err)
	}
	where := config.Standard(dir)
	where.Policy = files
	set, err := config.Discover(where)
	if err != nil {
		return nil, Unread(err)
	}
	for _, file := range set.Files {
		if f, _ := parser.Parse(kinds.Table(), file.Path, file.Text); f != nil {
			parsed = append(parsed, f)
		}
	}
	return parsed, nil
}

func rulesOf(f *syntax.File) (list []Rule) {
	add := func(tool string, result bool, rules []*syntax.Rule) {
		for _, r := range rules {
			list = append(list, Rule{ID: r.ID, File: r.In(f.Name), Line: r.Pos.Start.Line, Tool: tool, Result: result, Text: ruleText(f, r)})
		}
	}
	add("", false, f.Guards)
	for _, t := range f.Tools {
		for _, of := range []*syntax.RuleList{t.Run, t.Result} {
			if of != nil {
				add(t.Name, of == t.Result, of.Rules)
			}
		}
	}
	return list
}

// ruleText returns a rule as it is written. One with a header of its own ends before a blank line or the next header.
func ruleText(f *syntax.File, r *syntax.Rule) string {
	source := f.Source
	if n := int(r.Pos.Pack); n > 0 && n <= len(f.Packs) {
		source = f.Packs[n-1].Source
	}
	from, to := r.Pos.Start.Offset, r.Pos.End.Offset
	if source == nil || from < 0 || from > to || to > len(source.Text) {
		return ""
	}
	text := source.Text
	if bytes.HasPrefix(text[from:], []byte("{")) || bytes.HasPrefix(text[from:], []byte(`"`)) {
		return string(text[from:to])
	}
	from = bytes.LastIndexByte(text[:from], '\n') + 1
	var b strings.Builder
	for line := range bytes.Lines(text[from:]) {
		if line = bytes.TrimSpace(line); b.Len() > 0 && (len(line) == 0 || line[0] == '[') {
			break
		}
		b.Write(append(line, '\n'))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// idDigits is the length of an id, and fewDigits how many of its first digits are enough in a command.
const idDigits, fewDigits = 32, 6

// BeginsID reports whether a word has only digits of an id.
func BeginsID(word string) bool {
	return word != "" && len(word) <= idDigits && strings.Trim(word, "0123456789abcdef") == ""
}

// NamesRule reports whether a word has the form of the name of a rule: an id, its first six digits or more, or FILE:LINE.
func NamesRule(word string) bool {
	_, _, ok := fileAndLine(word)
	return ok || BeginsID(word) && len(word) >= fewDigits
}

// fileAndLine splits FILE:LINE.
func fileAndLine(word string) (file string, line int, ok bool) {
	at := strings.LastIndexByte(word, ':')
	if at <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(word[at+1:])
	return word[:at], line, err == nil && line > 0
}

// RulesNamed returns the rules of the policy here that a word names; see [NamesRule]. FILE is the name of a file, the end of its
// path, or a pack as messages name it.
func RulesNamed(files []string, word string) (found []Rule, err error) {
	list, err := Rules(files)
	if err != nil {
		return nil, err
	}
	file, line, at := fileAndLine(word)
	var near []int
	for _, r := range list {
		here := at && inFile(r.File, file)
		switch {
		case here && r.Line == line, !at && len(word) >= fewDigits && strings.HasPrefix(string(r.ID), word):
			found = append(found, r)
		case here:
			near = append(near, r.Line)
		}
	}
	slices.Sort(near)
	switch near = slices.Compact(near); {
	case len(found) > 0:
		return found, nil
	case len(near) > 0:
		return nil, cli.Usagef("no rule begins at %s: rules of this file are at the lines %s", visible.Text(word), visible.Elide(strings.Trim(fmt.Sprint(near), "[]"), 120))
	case at:
		return nil, cli.Usagef("no rule of the policy here is at %s: name its file with --policy, or the rule by its id, which stopgate log show prints", visible.Text(word))
	}
	return nil, cli.Usagef("no rule of the policy here has the id %s: write an id, its first six digits, or FILE:LINE", visible.Text(word))
}

// inFile reports whether name names a file: its path, a path that leads to it, or the end of its path.
func inFile(path, name string) bool {
	if path == name || strings.HasSuffix(path, "/"+name) {
		return true
	}
	abs, err := filepath.Abs(name)
	return err == nil && abs == path
}

// RuleIDs returns the ids of the rules that words name. A whole id need not be of the policy here.
func RuleIDs(files, words []string) (ids []stopgate.RuleID, err error) {
	for _, word := range words {
		if BeginsID(word) && len(word) == idDigits {
			ids = append(ids, stopgate.RuleID(word))
			continue
		}
		rules, err := RulesNamed(files, word)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// RuleFlag adds --rule, and completes it with the rules of the policy.
func (f *Records) RuleFlag(cmd *cobra.Command, words *[]string, usage string) {
	cmd.Flags().StringSliceVar(words, "rule", nil, usage)
	cli.LookUpFlag(cmd, "rule", func(context.Context, *cobra.Command) []string { return CompletedRules(f.Files) })
}

// CompletedRules are the ids of the rules of policy files with their descriptions, as shells complete them.
func CompletedRules(files []string) (words []string) {
	list, _ := Rules(files)
	known := map[stopgate.RuleID]bool{}
	for _, r := range list {
		if !known[r.ID] {
			known[r.ID] = true
			words = append(words, string(r.ID)+"\t"+visible.Text(r.Where())+" "+visible.Elide(visible.Text(r.Tool+" "+r.Text), 60))
		}
	}
	return words
}
