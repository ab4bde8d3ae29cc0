package hosts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/visible"
)

// command is the program that the host starts.
func (f *installFlags) command() (c install.Command, err error) {
	if f.program != "" {
		if c.Program, err = filepath.Abs(f.program); err != nil {
			return c, err
		}
		if at, err := os.Stat(c.Program); err != nil || !at.Mode().IsRegular() || at.Mode().Perm()&0o111 == 0 {
			return c, cli.Hinted(fmt.Errorf("%s is no program", visible.Text(c.Program)), "every call would be blocked; --program names a stopgate or stopgate-hook")
		}
		c.Small = isSmall(c.Program)
		return c, nil
	}
	if c.Program, err = os.Executable(); err != nil {
		return c, fmt.Errorf("find this program: %w; name it with --program", err)
	}
	// The name in PATH stays valid when an update replaces the file.
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		called, err = filepath.Abs(called)
		if err == nil && sameFile(called, c.Program) && (smallBeside(called) != "" || smallBeside(c.Program) == "") {
			c.Program = called
		}
	}
	if small := smallBeside(c.Program); small != "" {
		c.Program, c.Small = small, true
	}
	return c, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// isSmall reports whether a path names the program that only answers hooks.
func isSmall(path string) bool {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name)) == process.SmallName
}

// smallBeside returns the small program in the directory of this one, "" where there is none of
// the same version: hooks then start this one.
func smallBeside(program string) string {
	small := filepath.Join(filepath.Dir(program), process.SmallName+filepath.Ext(program))
	if smallVersion(small) != release.Line(process.SmallName) {
		return ""
	}
	return small
}

// smallVersion returns the version line of a small program, "" for none.
func smallVersion(path string) string {
	if at, err := os.Stat(path); err != nil || !at.Mode().IsRegular() {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
