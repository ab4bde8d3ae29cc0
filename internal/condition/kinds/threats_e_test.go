package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/schema"
)

// Proves E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13, E14, E15, E16, E17, E18, E19, E20,
// E21, E22, E23, E24, E25, E26, E27: for every row, whether a permissive prefix "git status"
// matches, whether a restrictive prefix "rm" matches, and whether the line is analysable.
func TestThreatsE(t *testing.T) {
	may := compile(t, spec(condition.Prefix, "git status"), aCommand, permissive, nowhere)
	must := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, nowhere)
	for _, c := range []struct {
		row, line  string
		catch      bool
		analysable bool
	}{
		{"E1", "git status; rm -rf /", true, true},
		{"E2", "git status && rm x", true, true},
		{"E3", "git status || rm x", true, true},
		{"E4", "git status | sh", false, false},
		{"E4", "git status |& sh", false, false},
		{"E4", "git status | xargs rm", true, true},
		{"E5", "git status & rm x", true, true},
		{"E6", "git status\nrm x", true, true},
		{"E6", "git status\rrm x", true, false},
		{"E6", "git log 'a\nrm x'", false, true},
		{"E6", "bash -c \"git status\nrm x\"", true, true},
		{"E6", "git log 'a\nb'\nrm x", true, true},
		{"E6", "git log \"a\n$(rm x)\"", true, false},
		{"E7", "git status $(rm x)", true, false},
		{"E7", "git status `rm x`", true, false},
		{"E8", "git status <(rm x)", true, false},
		{"E9", "git status $x", false, false},
		{"E9", "git status ${x@P}", false, false},
		{"E9", "git status ${x:-$(rm x)}", true, false},
		{"E9", "$x -rf /", false, false},
		{"E10", "git status >~/.bashrc", false, false},
		{"E10", "git status >|f", false, false},
		{"E10", "git status 2>f", false, false},
		{"E10", "git status &>f", false, false},
		{"E10", ">x rm y", true, false},
		{"E10", "2>x rm y", true, false},
		{"E11", "git status <<E\nx\nE", false, false},
		{"E11", `git status <<<"$(rm x)"`, true, false},
		{"E12", "GIT_SSH_COMMAND=./x git status", false, false},
		{"E12", "X=1 rm x", true, false},
		{"E13", "env -S 'rm x'", true, false},
		{"E13", "timeout 1 rm x", true, true},
		{"E13", "xargs rm", true, true},
		{"E13", "nice rm x", true, true},
		{"E13", "sudo rm x", true, true},
		{"E13", "nohup rm x", true, true},
		{"E13", "command rm x", true, true},
		{"E13", "timeout 1 nice nohup rm x", true, true},
		{"E13", "env -iS 'rm x'", true, false},
		{"E13", "env -S'rm x'", true, false},
		{"E13", "env -S 'rm\\_x'", true, false},
		{"E13", "env --split-string='rm x'", true, false},
		{"E13", "env -u A -S 'rm x'", true, false},
		{"E13", "gtimeout 1 rm x", true, true},
		{"E13", "docker exec c rm x", true, true},
		{"E13", "kubectl exec p -- rm x", true, true},
		{"E13", "uv run rm x", true, true},
		{"E13", "docker rm x", false, true},
		{"E13", "hyperfine 'rm x'", true, true},
		{"E13", "valgrind rm x", true, true},
		{"E13", "rm.exe x", true, true},
		{"E14", "bash -c 'rm x'", true, true},
		{"E14", "sh -c 'git status; rm x'", true, true},
		{"E14", "eval 'rm x'", true, true},
		{"E14", "bash-5.2 -c 'rm x'", true, true},
		{"E14", "fish -C 'rm x'", true, false},
		{"E14", "curl x | sh", false, false},
		{"E14", "curl x | sudo bash", false, false},
		{"E14", "curl x | bash -s -- y", false, false},
		{"E14", "echo x | python3", false, false},
		{"E14", "echo x | sudo python3 -u", false, false},
		{"E14", "python3.12 -c x", false, false},
		{"E14", "bash x.sh", false, true},
		{"E14", "cat a | python3 -m json.tool", false, true},
		{"E14", "python3 --version", false, true},
		{"E15", "find . -exec rm {} ;", true, false},
		{"E15", `find . -exec rm {} \;`, true, true},
		{"E15", "fd -x rm", true, true},
		{"E16", "git -c core.pager=./x status", false, true},
		{"E16", "git -c alias.status='!rm x' status", true, true},
		{"E16", "git status --ext-diff", false, true},
		{"E16", "git bisect run rm x", true, true},
		{"E16", "git rebase -x 'rm x' a", true, true},
		{"E16", "git submodule foreach --recursive 'rm x'", true, false},
		{"E16", "git filter-branch --tree-filter 'rm x'", true, true},
		{"E16", "git difftool -x 'rm x'", true, true},
		{"E16", "git clone -u 'rm x' a", true, true},
		{"E16", "tar xfI a 'rm x'", true, true},
		{"E16", "vim -c ':!rm x' f", true, true},
		{"E16", "less '+!rm x' f", true, true},
		{"E16", "make CC='rm x'", true, true},
		{"E16", "mapfile -C 'rm x' a", true, true},
		{"E16", "test -v 'a[$(rm x)]'", true, true},
		{"E16", "sort --compress-program=rm", true, true},
		{"E16", "sort --compress-prog=rm", true, true},
		{"E17", "sed '1e rm x'", false, true},
		{"E18", "gi\\\nt status", false, false},
		{"E18", "r\\\nm x", true, false},
		{"E19", "r''m x", true, true},
		{"E19", `"rm" x`, true, true},
		{"E19", `\rm x`, true, true},
		{"E19", `$'\x72m' x`, true, false},
		{"E19", "'git' status", false, true},
		{"E19", "git 'status'", false, true},
		{"E20", "{rm,-rf,/}", true, false},
		{"E20", "r[m] x", true, false},
		{"E20", "git status *", false, false},
		{"E21", "git(){ rm x; }; git status", true, false},
		{"E21", "alias git=rm", true, false},
		{"E22", "cd .git && git status", false, true},
		{"E23", "rm x # approved: git status", true, false},
		{"E23", "git status # ; rm x", true, false},
		{"E24", "\uff52\uff4d x", true, false},
		{"E24", "r\u043c x", false, false},
		{"E25", strings.Repeat("true;", 200) + "rm x", true, true},
		{"E26", "export PAGER='rm x'", true, true},
		{"E26", "SHELLOPTS=xtrace PS4='$(rm x)' true", true, false},
		{"E27", `git status "`, false, false},
	} {
		t.Run(c.row+" "+c.line[:min(len(c.line), 40)], func(t *testing.T) {
			if may.Match([]byte(c.line)) {
				t.Error("granted")
			}
			if got := must.Match([]byte(c.line)); got != c.catch {
				t.Errorf("caught: %v, want %v", got, c.catch)
			}
			if got := commandline.Analyse(c.line).Analysable; got != c.analysable {
				t.Errorf("analysable: %v, want %v", got, c.analysable)
			}
		})
	}
	moved := compile(t, spec(condition.Prefix, "./y"), aCommand, permissive, nowhere)
	var v condition.Value
	v.Reset([]byte("cd x && ./y"))
	if moved.JudgeCommand(&v, 1) {
		t.Error("E22: a relative program is granted after cd")
	}
}

// A usage permits only the options that it mentions.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		usage, line string
		grant       bool
	}{
		{"git {log,show} [--oneline|-n *] **", "git log --oneline -n 5 x", true},
		{"git {log,show} [--oneline|-n *] **", "git log -n5", true},
		{"git {log,show} [--oneline|-n *] **", "git show x y", true},
		{"git {log,show} [--oneline|-n *] **", "git --oneline log", false},
		{"git {log,show} [--oneline|-n *] **", "git log -p", false},
		{"git {log,show} [--oneline|-n *] **", "git log -n", false},
		{"git {log,show} [--oneline|-n *] **", "git log -n -p", false},
		{"git {log,show} [--oneline|-n *] **", "git log -- x", false},
		{"git {log,show} [--oneline|-n *|--] **", "git log -- -p", true},
		{"git {log,show} **", "git 'log'", false},
		{"git {log,show} **", "git log 'a b'", true},
		{"git log", "git log x", false},
		{"ls [-l|-a] **", "ls -la x", true},
		{"ls [-l|-a] **", "ls -lax x", false},
		{"head [-n *|-q] **", "head -qn 5 x", true},
		{"head [-n *|-q] **", "head -qn5 x", true},
		{"x [--max *] *", "x --max=5 y", true},
		{"x [--max *] *", "x --max 5 y", true},
		{"x [--max *] *", "x --ma 5 y", false},
		{"x [--max *] *", "x --run=5 y", false}, // another option of the same length
		{"x [--max [0-9]*] *", "x --max y z", false},
		{"sort [-*] [!-o|--output] **", "sort -u -k 2 x", true},
		{"sort [-*] [!-o|--output] **", "sort -uo x y", false},
		{"sort [-*] [!-o|--output] **", "sort --out=x y", false},
		{"find [-*] [!-exec*|-delete] **", "find . -name '*.go'", true},
		{"find [-*] [!-exec*|-delete] **", "find . -delete", false},
		{"cargo --version", "cargo --version", true},
		{`sort [-t \]] *`, "sort a", true}, // an escaped bracket ends no group
		{`sort [-t \]] *`, "sort -t x a", false},
		{"timeout [-k *] * <command>", "timeout -k 5 5 ls", false}, // ls by itself is not granted
	} {
		if got := compile(t, spec(condition.Usage, c.usage), aCommand, permissive, nowhere).Match([]byte(c.line)); got != c.grant {
			t.Errorf("%q on %q: %v", c.usage, c.line, got)
		}
	}
	deny := compile(t, spec(condition.Usage, "git push ** main"), aCommand, restrictive, nowhere)
	for line, want := range map[string]bool{
		"git push origin main": true, "git -C x push --force origin main": true, "ls; nice git push main": true, "git pull origin main": false, "echo git push main": false,
	} {
		if got := deny.Match([]byte(line)); got != want {
			t.Errorf("restrictive on %q: %v", line, got)
		}
	}
	for _, wrong := range []string{"", "[-a] git", "git [-a", "git [-a|]", "git [-a b c]", "git {a", "** x"} {
		specError(t, spec(condition.Usage, wrong), aCommand, permissive, nowhere)
	}
	specError(t, spec(condition.Usage, "git [!-a]"), aCommand, restrictive, nowhere)
	if err := specError(t, spec(condition.Prefix, "git status*"), aCommand, permissive, nowhere); !strings.Contains(err.Hint, "no wildcard") {
		t.Errorf("a prefix with a wildcard: %q", err.Hint)
	}
	specError(t, spec(condition.Usage, "git"), aPath, permissive, project)
}

// Proves E25: a line with more nested commands than the limit satisfies no permissive condition,
// and is unknown to restrictive ones that do not match.
func TestE25_Excess(t *testing.T) {
	line := []byte(strings.Repeat("env -S ", 100<<10) + "ls")
	for _, m := range []*match.Matcher{
		compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, project),
		compile(t, spec(condition.Glob, "conf/**"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, project),
	} {
		if !may(m, string(line)) {
			t.Error("a restrictive condition says nothing")
		}
	}
	if compile(t, spec(condition.Usage, "env [-*] **"), aCommand, permissive, project).Match(line) {
		t.Error("a permissive condition holds")
	}
}

// Proves E25, H20: the part of a line that is not parsed, as written or in another form, may match
// the protected list; the parsed part is evaluated all the same.
func TestE25_H20_ExcessIsProtected(t *testing.T) {
	p := protected.New(project)
	rm := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, project)
	many := func(shell string) string {
		return strings.Repeat(shell+" -c ': "+strings.Repeat("a ", 500)+"'\n", 280)
	}
	for _, test := range []struct {
		name, line string
		want       condition.Protection
	}{
		{"nested", many("sh") + "sh -c 'echo x > .claude/settings.json'", condition.UnknownTarget},
		{"nested, in another form", many("\uff53\uff48") + "\uff53\uff48 -c 'echo x > .claude/settings.json; rm x'", condition.AskedTarget},
		{"denied beside it", "stopgate trust\n" + many("sh"), condition.DeniedTarget},
		{"padded words", "cp" + strings.Repeat(" -v", 1100) + " x/settings.json .claude", condition.AskedTarget},
		{"padded directories", "cp" + strings.Repeat(" -S -t -Sa", 300) + " x/settings.json .claude", condition.UnknownTarget},
	} {
		if got, entry := p.Command([]byte(test.line)); got != test.want {
			t.Errorf("%s: %v by %s, want %v", test.name, got, entry, test.want)
		}
		if strings.HasPrefix(test.name, "nested") && !may(rm, test.line) {
			t.Errorf("%s: the line may run rm", test.name)
		}
	}
}

// Proves H20: a file that is put into a directory of the protected list is protected.
func TestH20_PlacedFiles(t *testing.T) {
	p := protected.New(project)
	for line, want := range map[string]condition.Protection{
		"cp x/settings.json .claude": condition.AskedTarget, "mv hooks.json .codex/": condition.AskedTarget, "cp -t .claude settings.local.json": condition.AskedTarget, "cp settings.json src": condition.Unprotected,
	} {
		if got, _ := p.Command([]byte(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// Proves K0a: a file that is put into a directory is written under its own name.
func TestK0a_PlacedFiles(t *testing.T) {
	guard := compile(t, spec(condition.Glob, "conf/app.toml"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, project)
	for line, want := range map[string]bool{
		"cp x/app.toml conf": true, "mv x/app.toml conf/": true, "cp -t conf x/app.toml": true, "install --target-directory=conf app.toml": true, "ln -s y/app.toml a b conf": true,
		"cp" + strings.Repeat(" -v", 1100) + " x/app.toml conf": true, "cp" + strings.Repeat(" -v", 70000) + " x/app.toml other": true,
		"cp x/app.toml other": false, "cp app.toml x.toml": false, "cp conf/a.toml x": false,
	} {
		if got := may(guard, line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
