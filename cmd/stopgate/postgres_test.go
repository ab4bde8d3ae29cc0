//go:build unix

package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// password is the password in the URLs of stores here. It must not be printed.
const password = "very:secret%/word"

// databaseURL returns the URL of an empty database, with a password that its server ignores.
func databaseURL(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", password)
	return u.String()
}

// Proves S25, S59, K35: the commands that read and change a store do so with one in PostgreSQL.
func TestScriptsOnPostgres(t *testing.T) {
	p := scripts()
	p.Dir = filepath.Join("testdata", "postgres")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("STORE", databaseURL(t))
		return setup(env)
	}
	// verifyheads FILE STORE verifies with the heads in a file.
	p.Cmds["verifyheads"] = func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Check(ts.Exec("stopgate", "log", "verify", "--store", args[1], "--head", ts.ReadFile(args[0])))
	}
	// chainof FILE sets CHAIN to that of the first row in a file.
	p.Cmds["chainof"] = func(ts *testscript.TestScript, _ bool, args []string) {
		_, rest, _ := strings.Cut(ts.ReadFile(args[0]), `"chain":"`)
		id, _, _ := strings.Cut(rest, `"`)
		ts.Setenv("CHAIN", id)
	}
	testscript.Run(t, p)
}

// hidesPassword reports an output with the password, in any form.
func hidesPassword(t *testing.T, args []string, output string) {
	t.Helper()
	for _, form := range []string{password, url.QueryEscape(password), url.PathEscape(password), url.UserPassword("", password).String(), "secret"} {
		if strings.Contains(output, form) {
			t.Errorf("%q prints the password:\n%s", args, output)
		}
	}
}

// command runs a command with a limit on time and returns all that it printed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk lines
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Errorf("%q does not end", args)
	}
	return out.String() + talk.String()
}

// unusable returns URLs of stores that cannot be opened.
func unusable(t *testing.T) []string {
	secret := url.UserPassword("gate", password).String()
	return []string{
		"postgres://" + secret + "@127.0.0.1:1/db",
		"postgresql://" + secret + "@/db?host=" + t.TempDir(),
		"postgres://gate:very:secret%zz@127.0.0.1:1/db",
		"postgres://gate@127.0.0.1:1/db?password=secret&sslmode=wrong",
		"postgres://" + secret + "@127.0.0.1:1/db?sslmode=verify-full&sslrootcert=/nowhere",
	}
}

// Proves S13: no command prints the password in the URL of a store, in its output or its errors.
func TestPasswordsAreNotPrinted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Chdir(t.TempDir())
	ran := 0
	var walk func(cmd *cobra.Command, words []string)
	walk = func(cmd *cobra.Command, words []string) {
		for _, sub := range cmd.Commands() {
			walk(sub, append(words[:len(words):len(words)], sub.Name()))
		}
		if cmd.Flags().Lookup("store") == nil || !cmd.Runnable() {
			return
		}
		for _, at := range unusable(t) {
			for _, further := range [][]string{nil, {"x"}} {
				args := append(append(append([]string{}, words...), further...), "--store", at)
				hidesPassword(t, args, command(t, args...))
				ran++
			}
		}
	}
	walk(commands.New(cli.Streams{}), nil)
	if ran < 100 {
		t.Errorf("only %d commands were run", ran)
	}
}
