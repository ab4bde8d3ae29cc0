// Command generate writes the lists of tools in the starter policies, "also" in a table
// [tools.NAME], from the table of known tools. It is run in the directory of the starters.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/parser"
)

// starter is a starter policy with lists of known tools.
type starter struct {
	name, file string
	tables     []table
}

// table is a table of tools that one policy applies to.
type table struct {
	tool      string // [tools.NAME]
	classes   []knowntools.Class
	parameter string // which the rules of the table look at; "" if any will do
	untyped   bool   // also for rows without parameters, which are those of the own agent
}

var starters = []starter{
	{"default", "starter.toml", []table{
		{"read_file", []knowntools.Class{knowntools.Read, knowntools.Search}, "", false},
	}},
	{"coding", "../packs/data/coding.toml", []table{
		{"Read", []knowntools.Class{knowntools.Read, knowntools.Search}, "", false},
		{"TodoWrite", []knowntools.Class{knowntools.Note, knowntools.Agent}, "", false},
		{"Write", []knowntools.Class{knowntools.Write}, "file_path", false},
		{"write_file", []knowntools.Class{knowntools.Write}, "path", true},
		{"Bash", []knowntools.Class{knowntools.Run}, "command", false},
	}},
	{"shell", "starter_shell.toml", []table{
		{"shell", []knowntools.Class{knowntools.Run}, "command", false},
	}},
}

func main() {
	for _, s := range starters {
		if err := s.write(); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

// write updates the file of the starter in the working directory.
func (s starter) write() error {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	if text, err = s.generate(text); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return os.WriteFile(s.file, text, 0o644)
}

// generate returns the text of the starter with its lists as the table of known tools has
// them, in canonical layout. It fails if a table or its list is missing, or if a name of the
// starter belongs to none or to several of its tables.
func (s starter) generate(text []byte) ([]byte, error) {
	lists, err := s.lists(knowntools.All())
	if err != nil {
		return nil, err
	}
	out := string(text)
	for i, t := range s.tables {
		before, rest, ok := strings.Cut(out, "\n[tools."+t.tool+"]\n")
		_, end, closed := strings.Cut(rest, "]\n")
		if !ok || !closed || !strings.HasPrefix(rest, "also = [") {
			return nil, fmt.Errorf(`[tools.%s] does not begin with a list "also"`, t.tool)
		}
		names := ""
		for _, name := range lists[i] {
			names += fmt.Sprintf("%q, ", name)
		}
		out = before + "\n[tools." + t.tool + "]\nalso = [" + strings.TrimSuffix(names, ", ") + "]\n" + end
	}
	formatted, found := parser.Format(kinds.Table(), s.file, []byte(out))
	if found.HasErrors() {
		return nil, fmt.Errorf("%v", found)
	}
	return formatted, nil
}

// lists returns for each table the names that products list for the starter, without the
// name of the table, sorted.
func (s starter) lists(products []*knowntools.Product) ([][]string, error) {
	lists := make([][]string, len(s.tables))
	for _, p := range products {
		for _, tool := range p.Tools {
			for _, l := range tool.Starters {
				if !slices.ContainsFunc(starters, func(other starter) bool { return other.name == l.Starter }) {
					return nil, fmt.Errorf("%s: %s: unknown starter %q", p.Name, l.Name, l.Starter)
				}
				if l.Starter != s.name {
					continue
				}
				i, err := s.table(tool)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", p.Name, l.Name, err)
				}
				if l.Name != s.tables[i].tool {
					lists[i] = append(lists[i], l.Name)
				}
			}
		}
	}
	seen := map[string]bool{}
	for i, list := range lists {
		slices.SortFunc(list, func(a, b string) int {
			if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
				return c
			}
			return strings.Compare(a, b)
		})
		lists[i] = slices.Compact(list)
		for _, name := range lists[i] {
			if seen[name] {
				return nil, fmt.Errorf("%s is in two tables", name)
			}
			seen[name] = true
		}
	}
	return lists, nil
}

// table returns the index of the only table that a row belongs to.
func (s starter) table(tool *knowntools.Tool) (int, error) {
	at := -1
	for i, t := range s.tables {
		fits := t.parameter == "" || t.untyped && len(tool.Parameters) == 0 || slices.ContainsFunc(tool.Parameters, func(p knowntools.Parameter) bool { return p.Name == t.parameter })
		if !fits || !slices.Contains(t.classes, tool.Class) {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("belongs to [tools.%s] and to [tools.%s]", s.tables[at].tool, t.tool)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("class %s with these parameters belongs to no table", tool.Class)
	}
	return at, nil
}
