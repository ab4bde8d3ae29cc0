// Command manpages writes the manual pages of the programs and the completions of shells, for
// packages:
//
//	manpages -version v1.2.0 -time 1790000000 -o DIRECTORY
//
// Section 1 is made of the commands' help: the page of `stopgate hook` is also that of the program
// stopgate-hook. stopgate.toml(5) is made of docs/reference/policy.md. The same checkout, version
// and time give the same bytes. It is run at the root of the repository.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
)

func main() {
	version := flag.String("version", "", "version of the programs")
	seconds := flag.Int64("time", 0, "date of the pages, in seconds since 1970")
	out := flag.String("o", "", "directory to write")
	flag.Parse()
	if *version == "" || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*out, *version, time.Unix(*seconds, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

// write writes man1, man5 and completions below a directory.
func write(out, version string, at time.Time) error {
	dirs := []string{filepath.Join(out, "man", "man1"), filepath.Join(out, "man", "man5"), filepath.Join(out, "completions")}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	root := commands.New(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	root.DisableAutoGenTag = true
	source := "stopgate " + version
	tree := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &at, Source: source, Manual: "stopgate"}, dirs[0])
	policy, err := os.ReadFile("docs/reference/policy.md")
	return errors.Join(tree, err,
		page(dirs[1], "stopgate.toml.5", source, at, prepare(string(policy))),
		completions(root, dirs[2]))
}

// page writes a page that is Markdown. Its name is that of the file.
func page(dir, name, source string, at time.Time, text string) error {
	title, section := strings.ToUpper(strings.TrimSuffix(name, filepath.Ext(name))), strings.TrimPrefix(filepath.Ext(name), ".")
	head := fmt.Sprintf("%% %q %q %q %q \"stopgate\"\n", title, section, at.Format("Jan 2006"), source)
	return os.WriteFile(filepath.Join(dir, name), md2man.Render([]byte(head+text)), 0o644)
}

// completions writes the scripts that `stopgate completion` prints, under the names by which shells find them.
func completions(root *cobra.Command, dir string) error {
	for name, script := range map[string]func(io.Writer) error{
		"stopgate.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_stopgate":     root.GenZshCompletion,
		"stopgate.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		var text bytes.Buffer
		if err := script(&text); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
