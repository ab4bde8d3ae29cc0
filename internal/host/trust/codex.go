package trust

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// The conditions under which Codex does not run a hook, each with its remedy.
const (
	codexNoProject = "Codex loads no hooks of a project that you have not trusted, and you have not trusted this one: no call is gated"
	codexNoHook    = "Codex runs no hook before you have reviewed it, and you have not reviewed this one as it is: no call is gated"
)

// codex reports why Codex does not run the hook in a file with these command lines.
func codex(ctx context.Context, program string, at install.Location, file string, lines []string) Trust {
	hooks, err := codexHooks(ctx, program, at.Dir)
	if err != nil {
		return codexSettings(at, file)
	}
	missing := codexNoHook
	if at.Scope == install.Project {
		missing = codexNoProject
	}
	for hook := range hooks.Elements() {
		if !sameFile(textOf(hook, "sourcePath"), file) || textOf(hook, "eventName") != "preToolUse" || !slices.Contains(lines, textOf(hook, "command")) {
			continue
		}
		missing = codexNoHook
		enabled, _ := hook.Get("enabled")
		if status := textOf(hook, "trustStatus"); enabled.Kind() == jsonstream.True && (status == "trusted" || status == "managed") {
			return Trust{}
		}
	}
	return Trust{Missing: missing}
}

// codexHooks asks Codex for the hooks that it finds in a directory.
func codexHooks(ctx context.Context, program, dir string) (hooks jsonstream.Value, err error) {
	if program, err = exec.LookPath(program); err != nil {
		return hooks, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return hooks, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return hooks, err
	}
	if err := cmd.Start(); err != nil {
		return hooks, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	ask := func(request, id string) (jsonstream.Value, error) {
		if _, err := in.Write([]byte(request + "\n")); err != nil || id == "" {
			return jsonstream.Value{}, err
		}
		for {
			if !lines.Scan() {
				return jsonstream.Value{}, errors.Join(io.ErrUnexpectedEOF, lines.Err())
			}
			root, err := jsonstream.Parse(bytes.Clone(lines.Bytes()), jsonstream.Options{ObjectRoot: true})
			if err != nil {
				return jsonstream.Value{}, err
			}
			if got, ok := root.Get("id"); ok && string(got.Raw()) == id {
				result, _ := root.Get("result")
				return result, nil
			}
		}
	}
	if _, err := ask(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"stopgate","version":"1"}}}`, "1"); err != nil {
		return hooks, err
	}
	if _, err := ask(`{"method":"initialized"}`, ""); err != nil {
		return hooks, err
	}
	result, err := ask(`{"id":2,"method":"hooks/list","params":{"cwds":[`+string(jsonstream.AppendQuote(nil, dir))+`]}}`, "2")
	if err != nil {
		return hooks, err
	}
	data, _ := result.Get("data")
	for entry := range data.Elements() {
		if list, ok := entry.Get("hooks"); ok && list.Kind() == jsonstream.Array {
			return list, nil
		}
	}
	return hooks, errors.New("codex lists no hooks")
}

func textOf(v jsonstream.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

// codexSettings reads the trust from Codex's settings. They show that a hook was trusted, but not
// whether it was this one.
func codexSettings(at install.Location, file string) Trust {
	p, err := install.Make("codex", install.Location{Scope: install.User, Home: at.Home, Dir: at.Dir, Getenv: at.Getenv}, install.Command{})
	if err != nil {
		return Trust{Missing: codexNoHook}
	}
	settings := filepath.Join(filepath.Dir(p.File), "config.toml")
	text, err := os.ReadFile(settings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Trust{Missing: err.Error()}
	}
	doc, found := tomltree.Parse(settings, text)
	if found.HasErrors() {
		return Trust{Missing: visible.Text(settings) + " cannot be read, and nobody knows what Codex makes of it"}
	}
	if at.Scope == install.Project {
		root, err := config.ProjectRoot(at.Dir)
		trusted := err == nil && root != "" && textAt(doc.Root, "projects", root, "trust_level") == "trusted"
		trusted = trusted || textAt(doc.Root, "projects", at.Dir, "trust_level") == "trusted"
		if !trusted {
			return Trust{Missing: codexNoProject}
		}
	}
	state := member(doc.Root, "hooks", "state")
	if state != nil {
		for _, e := range state.Entries {
			if strings.HasPrefix(e.Key, file+":pre_tool_use:") && textAt(e.Value, "trusted_hash") != "" {
				return Trust{Unsure: "codex could not be asked whether it trusts the hook as it is now; try /hooks there"}
			}
		}
	}
	return Trust{Missing: codexNoHook}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// member follows keys through tables, nil where there is none.
func member(v *tomltree.Value, keys ...string) *tomltree.Value {
	for _, key := range keys {
		if v == nil || v.Kind != tomltree.Table {
			return nil
		}
		e := v.Get(key)
		if e == nil {
			return nil
		}
		v = e.Value
	}
	return v
}

func textAt(v *tomltree.Value, keys ...string) string {
	if v = member(v, keys...); v == nil || v.Kind != tomltree.String {
		return ""
	}
	return v.Text
}
