package learning

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/visible"
)

// change is the change of the policy file and of its tests.
type change struct {
	path, tests             string
	before, after           []byte
	testsBefore, testsAfter []byte
	fresh                   bool // there are no tests yet
	scope                   config.Scope
}

// prepare proves the proposals one by one and returns the change of the files.
func (r *run) prepare(chosen []learn.Proposal) (c change, err error) {
	for _, p := range chosen {
		if _, _, err := r.Prove(p); err != nil {
			return c, fmt.Errorf("%s: %w", p.ID, err)
		}
	}
	c = change{path: r.file.Path, before: r.file.Text, scope: r.file.Scope}
	if c.after, err = r.Apply(chosen); err != nil {
		return c, err
	}
	c.tests = strings.TrimSuffix(c.path, filepath.Ext(c.path)) + suite.Suffix
	c.testsBefore, err = config.ReadFile(c.tests, config.MaxFile)
	if c.fresh = errors.Is(err, fs.ErrNotExist); err != nil && !c.fresh {
		return c, err
	}
	c.testsAfter = bytes.Clone(c.testsBefore)
	if c.fresh {
		c.testsAfter = fmt.Appendf(nil, "# Cases of what was learned from approvals: run them with `stopgate test`.\npolicy = %q\n", filepath.Base(c.path))
	} else if len(c.testsAfter) > 0 && !bytes.HasSuffix(c.testsAfter, []byte("\n")) {
		c.testsAfter = append(c.testsAfter, '\n')
	}
	c.testsAfter = append(c.testsAfter, r.Cases(chosen)...)
	return c, nil
}

// show returns the differences of the files.
func (c *change) show() string {
	both := textdiff.Unified(c.path, string(c.before), string(c.after)) + textdiff.Unified(c.tests, string(c.testsBefore), string(c.testsAfter))
	return visible.Lines(strings.TrimSuffix(both, "\n")) + "\n"
}

// write writes the files if the policy has not changed meanwhile, and keeps its old text.
func (c *change) write(out io.Writer) error {
	now, err := config.ReadFile(c.path, config.MaxFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s has changed meanwhile; nothing was written: run learn again", visible.Text(c.path))
	}
	kept := c.path + ".stopgate-" + time.Now().UTC().Format("20060102T150405Z") + ".bak"
	if err := atomicfile.Create(kept, c.before, 0o600); err != nil {
		return fmt.Errorf("keep the old file: %w", err)
	}
	if err := atomicfile.Rewrite(c.path, c.after); err != nil {
		return err
	}
	if c.fresh {
		err = atomicfile.Create(c.tests, c.testsAfter, 0o600)
	} else {
		err = atomicfile.Rewrite(c.tests, c.testsAfter)
	}
	if err != nil {
		return fmt.Errorf("the rules are written, their tests are not: %w", err)
	}
	out = cli.Fitting(out)
	fmt.Fprintf(out, "written; the previous version is kept as %s\n", visible.Text(kept))
	if c.scope == config.Project {
		fmt.Fprintln(out, "the file counts again when you trust it: stopgate trust")
	}
	_, err = fmt.Fprintln(out, "stopgate test runs the cases of what was learned")
	return err
}

// write writes proposals that were named by their ids.
func (r *run) write(out io.Writer, chosen []learn.Proposal) error {
	c, err := r.prepare(chosen)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, c.show()); err != nil {
		return err
	}
	return c.write(out)
}
