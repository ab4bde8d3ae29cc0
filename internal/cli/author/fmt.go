package author

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewFmt(s cli.Streams) *cobra.Command {
	var check, show bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE...|-]",
		Short: "write policy files in their canonical layout",
		Long: `fmt rewrites policy files in place, in the one canonical layout. Nothing is moved, no
comment is lost, and the policy means the same. - reads standard input and writes
standard output. Without a file it is stopgate.toml.

Exit: 0 done, or clean; 3 with --check or --diff if a file is not in canonical
layout; 3 if a file is no TOML.`,
		Example: `  stopgate fmt stopgate.toml
  stopgate fmt --check --diff policies/*.toml`,
		ValidArgsFunction: cli.CompleteTOML,
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing, list the files that would change")
	cmd.Flags().BoolVar(&show, "diff", false, "change nothing, show what would change")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{config.FileName}
		}
		f := formatting{Streams: s, check: check, diff: show}
		if *format == "json" {
			f.report = []formattedJSON{}
		}
		for _, path := range args {
			if err := f.file(path); err != nil {
				return err
			}
		}
		if f.report != nil {
			if err := cli.WriteJSON(s.Out, f.report); err != nil {
				return err
			}
			if len(f.mistakes) > 0 {
				return cli.Exit(cli.ExitMistakes)
			}
		}
		switch {
		case len(f.mistakes) > 0:
			return config.MistakesError{List: f.mistakes, Set: f.set}
		case f.changed > 0 && (check || show):
			return cli.Exit(cli.ExitMistakes)
		}
		return nil
	}
	return cmd
}

// formatting goes through the files of one command.
type formatting struct {
	cli.Streams
	check, diff bool
	changed     int
	mistakes    diag.List
	set         config.Set
	report      []formattedJSON // for programs, nil for people
}

// formattedJSON is the report of fmt about a file; it changes only by addition.
type formattedJSON struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"` // it is not in canonical layout, or was not
	Written bool   `json:"written"`
	// Diff is the change, with --diff; Text the canonical text of standard input.
	Diff     string    `json:"diff,omitempty"`
	Text     string    `json:"text,omitempty"`
	Mistakes diag.List `json:"mistakes,omitempty"`
}

func (f *formatting) file(path string) error {
	text, name, err := f.read(path)
	if err != nil {
		return inputs.Unread(err)
	}
	out, found := parser.Format(kinds.Table(), name, text)
	if found.HasErrors() {
		f.mistakes = append(f.mistakes, found...)
		f.set.Files = append(f.set.Files, config.File{Path: name, Text: text})
		if f.report != nil {
			f.report = append(f.report, formattedJSON{File: name, Mistakes: found})
		}
		return nil
	}
	changed := !bytes.Equal(text, out)
	if changed {
		f.changed++
	}
	if f.report != nil {
		return f.reported(path, name, text, out)
	}
	switch {
	case f.check || f.diff:
		if changed && f.check {
			_, err = fmt.Fprintln(f.Out, visible.Text(name))
		}
		if changed && f.diff {
			_, err = io.WriteString(f.Out, shownDiff(name, string(text), string(out)))
		}
	case path == "-":
		_, err = f.Out.Write(out)
	case changed:
		err = atomicfile.Rewrite(path, out)
	}
	return err
}

// reported is file for --format json.
func (f *formatting) reported(path, name string, text, out []byte) error {
	said := formattedJSON{File: name, Changed: !bytes.Equal(text, out)}
	switch {
	case f.check || f.diff:
		if f.diff {
			said.Diff = textdiff.Unified(name, string(text), string(out))
		}
	case path == "-":
		said.Text = string(out)
	case said.Changed:
		if err := atomicfile.Rewrite(path, out); err != nil {
			return err
		}
		said.Written = true
	}
	f.report = append(f.report, said)
	return nil
}

func (f *formatting) read(path string) (text []byte, name string, err error) {
	if path != "-" {
		set, err := config.Discover(config.Where{Policy: []string{path}})
		if err != nil {
			return nil, path, err
		}
		return set.Files[0].Text, path, nil
	}
	text, err = io.ReadAll(io.LimitReader(f.In, config.MaxFile+1))
	if err == nil && len(text) > config.MaxFile {
		err = fmt.Errorf("longer than %d bytes", config.MaxFile)
	}
	if err != nil {
		err = fmt.Errorf("read standard input: %w", err)
	}
	return text, "<standard input>", err
}

// shownDiff returns a change of a file. Its text is untrusted.
func shownDiff(name, before, after string) string {
	lines := strings.SplitAfter(textdiff.Unified(name, before, after), "\n")
	for i, line := range lines {
		text := strings.TrimSuffix(line, "\n")
		cells := strings.Split(text, "\t")
		for j, cell := range cells {
			cells[j] = visible.Lines(cell)
		}
		lines[i] = strings.Join(cells, "\t") + line[len(text):]
	}
	return strings.Join(lines, "")
}
