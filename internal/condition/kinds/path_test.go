package kinds_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
)

// pathRow is one payload of C1 to C19, with the results of a permissive prefix "src/" and of a
// restrictive prefix ".env".
type pathRow struct {
	name, value  string
	grant, catch bool
}

// checkRows evaluates rows with a permissive and a restrictive prefix.
func checkRows(t *testing.T, target condition.Target, env condition.Env, grant, catch string, rows []pathRow) {
	t.Helper()
	permits := compile(t, spec(condition.Prefix, grant), target, permissive, env)
	must := compile(t, spec(condition.Prefix, catch), target, restrictive, env)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := permits.Match([]byte(r.value)); got != r.grant {
				t.Errorf("permissive %q on %q: %v, want %v", grant, r.value, got, r.grant)
			}
			if got := may(must, r.value); got != r.catch {
				list, complete := pathform.Readings(r.value, env, target.Expands)
				t.Errorf("restrictive %q on %q: %v, want %v; readings %v (complete %v)", catch, r.value, got, r.catch, list, complete)
			}
		})
	}
}

// Proves C1, D25-19, P24.
func TestC1_DotDot(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"out of src", "src/../.env", false, true},
		{"with a dot", "src/./../.env", false, true},
		{"below the root is not suspicious", "src/x/../a", true, false},
		{"dot", "./src/a", true, false},
		{"double separator", "src//a", true, false},
		{"trailing separator", "src/a/", true, false},
		{"the directory itself", "src", true, false},
	})
}

// Proves C2.
func TestC2_LeavesTheRoot(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"climbs", "src/../../etc/passwd", false, false},
		{"absolute", "/etc/passwd", false, false},
		{"two separators", "//etc/passwd", false, false},
	})
}

// Proves C3, K19.
func TestC3_AbsoluteUnderTheRoot(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"absolute", "/srv/proj/.env", false, true},
		{"dot", "./.env", false, true},
		{"dot and separators", ".//.env", false, true},
		{"made relative", "/srv/proj/src/a", true, false},
		{"root in other case", "/SRV/Proj/.env", false, true},
		{"other root in exact case", "/Srv/proj/src/a", false, false},
		{"out of the root and back", "/srv/proj/../proj/src/a", false, false},
		{"out of the root and back to a secret", "../proj/.env", false, true},
		{"beside the root", "/srv/proj2/src/a", false, false},
	})
}

// Proves C4, D25-18, P24.
func TestC4_CompleteComponents(t *testing.T) {
	rows := []pathRow{
		{"longer name", "src-old/a", false, false},
		{"no separator", "srcX", false, false},
		{"env local is not under env", ".env.local", false, false},
		{"env elsewhere is not under env", "app/.env", false, false},
		{"below", ".env/x", false, true},
	}
	checkRows(t, aPath, project, "src/", ".env", rows)
	checkRows(t, aPath, project, "src", ".env/", rows)
	m := compile(t, spec(condition.Glob, "**/.env*"), aPath, restrictive, project)
	for _, v := range []string{".env", ".env.local", "app/.env", "a/b/.env.x/y", "/etc/.env"} {
		if !m.Match([]byte(v)) {
			t.Errorf("glob **/.env* misses %q", v)
		}
	}
}

// Proves C6, P24.
func TestC6_Case(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"upper directory", "SRC/a", false, false},
		{"upper", ".ENV", false, true},
		{"title", ".Env", false, true},
		{"exact", "src/A", true, false},
	})
}

// Proves C7.
func TestC7_NormalForms(t *testing.T) {
	checkRows(t, aPath, project, "caf\u00e9/", "caf\u00e9", []pathRow{
		{"composed", "caf\u00e9/a", true, true},
		{"decomposed", "cafe\u0301/a", false, true},
		{"upper decomposed", "CAFE\u0301/a", false, true},
	})
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"fullwidth dot", "\uff0eenv", false, true},
		{"fullwidth letters", ".\uff45\uff4e\uff56", false, true},
		{"division slash", "x\u2215..\u2215.env", false, true},
		{"fraction slash", "src\u2044..\u2044.env", false, true},
		{"fullwidth slash", "src\uff0f..\uff0f.env", false, true},
		{"two dot leader", "src/\u2025/.env", false, true},
		{"inside src but two readings", "src/\uff4e", false, false},
		{"plain beyond ASCII", "src/\u00fcbung/\u65e5\u672c.go", true, false},
		{"long s", ".\u017fsh", false, false},
	})
	checkRows(t, aPath, project, "src/", ".ssh", []pathRow{{"long s folds", ".\u017fsh/id", false, true}})
}

// Proves C8.
func TestC8_TrailingCharacters(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"trailing dot", "src/a.", false, false},
		{"trailing space", ".env ", false, true},
		{"trailing quote", `.env"`, false, true},
		{"quoted", `".env"`, false, true},
		{"single quotes", `'.env'`, false, true},
		{"leading space", " .env", false, true},
		{"dots and spaces", ".env. .", false, true},
		{"directory with a trailing dot", ".env./x", false, true},
		{"parent with a space", "src/.. /.env", false, true},
		{"inner space is a name", "src/my file.txt", true, false},
	})
}

// Proves C9.
func TestC9_StreamsShortNamesDevices(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"stream", ".env::$DATA", false, true},
		{"named stream", ".env:evil", false, true},
		{"stream below src", "src/a:evil", false, false},
		{"short name", "ENV~1", false, true},
		{"short name of src", "src/ENV~1", false, false},
		{"device", "NUL", false, false},
		{"device below src", "src/nul", false, false},
		{"device with extension", "src/aux.txt", false, false},
		{"numbered device", "src/COM1", false, false},
		{"superscript device", "src/com\u00b9", false, false},
		{"console", "src/conin$", false, false},
		{"nearly a device", "src/com10", true, false},
		{"nearly a device too", "src/console.log", true, false},
		{"tilde is a name", "src/a~", true, false},
		{"backup", "src/~a", true, false},
	})
	checkRows(t, aPath, project, "src/", ".git", []pathRow{{"the short name git guards", "GIT~1/hooks/x", false, true}})
}

// Proves C10.
func TestC10_DrivesAndShares(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"share", `\\host\share\.env`, false, true},
		{"drive", `C:\.env`, false, true},
		{"relative to a drive", `C:.env`, false, true},
		{"device path", `\\?\C:\.env`, false, true},
		{"device share", `\\?\UNC\host\share\.env`, false, true},
		{"another file", `C:\x`, false, false},
		{"share to src", `\\host\share\src\a`, false, false},
	})
}

// Proves C11.
func TestC11_Backslash(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"out of src", `src\..\.env`, false, true},
		{"mixed", `src/..\.env`, false, true},
		{"inside", `src\a`, false, false},
		{"encoded decoy", `a%2fb\..\.env`, false, true},
	})
}

// Proves C12, K19.
func TestC12_HomeAndVariables(t *testing.T) {
	rows := []pathRow{
		{"home", "~/.ssh/id_rsa", false, true},
		{"variable", "$HOME/.ssh/id_rsa", false, true},
		{"braced", "${HOME}/.ssh/x", false, true},
		{"Windows", `%USERPROFILE%\.ssh\x`, false, true},
		{"PowerShell", "$env:HOME/.ssh/x", false, true},
		{"absolute", "/home/u/.ssh/id_rsa", false, true},
		{"another", "/home/u/src/x", false, false},
	}
	checkRows(t, aPath, project, "src/", "/home/u/.ssh", rows)
	checkRows(t, aPath, project, "src/", "~/.ssh", rows)
	checkRows(t, aPath, nowhere, "src/", "~/.ssh", rows)
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"empty variable", "$X.env", false, true},
		{"empty variable and separator", "${X}/.env", false, true},
		{"a user's home", "~root/.env", false, true},
		{"any variable", "src/$X", false, false},
		{"any name in percents", "src/%X%", false, false},
		{"unclosed", "src/${X", false, false},
		{"home that lies in the value", "src/~/x", true, false},
		{"home after cleaning", "x/../~/y", false, false},
	})
	m := compile(t, spec(condition.Prefix, "~/code/"), aPath, permissive, project)
	if !m.Match([]byte("/home/u/code/a")) || m.Match([]byte("~/code/a")) || m.Match([]byte("code/a")) {
		t.Error("a permissive literal below ~ grants its absolute form only")
	}
	m = compile(t, spec(condition.Prefix, "~/code/"), aPath, permissive, nowhere)
	if m.Match([]byte("/home/u/code/a")) {
		t.Error("an unknown home grants nothing")
	}
}

// Proves C13.
func TestC13_PercentAndParameters(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"encoded dots", "src/%2e%2e/.env", false, true},
		{"encoded slash", "src%2F..%2F.env", false, true},
		{"twice", "src/%252e%252e/.env", false, true},
		{"three times is data", "src/%25252e%25252e/.env", false, false},
		{"parameters", "src/..;a=b/.env", false, true},
		{"encoded separator", "%2Fetc", false, false},
		{"overlong dot", "src/%c0%ae%c0%ae/.env", false, true},
		{"overlong in three bytes", "src/%e0%80%ae./.env", false, true},
		{"unicode escape", "src/%u002e%u002e/.env", false, true},
		{"encoded NUL", ".env%00.png", false, true},
		{"percent in a name", "src/100%", false, false},
		{"semicolon in a name", "src/a;b", false, false},
	})
}

// Proves C14.
func TestC14_URL(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"file URL", "file:///srv/proj/.env", false, true},
		{"file URL with a host", "file://localhost/srv/proj/.env", false, true},
		{"file URL without slashes", "file:.env", false, true},
		{"file URL to src", "file:///srv/proj/src/a", false, false},
		{"web URL", "https://h/.env?x#y", false, true},
		{"encoded scheme", "file%3A///srv/proj/.env", false, true},
	})
}

// Proves C15.
func TestC15_Expansion(t *testing.T) {
	checkRows(t, aPath, project, "app/", ".env", []pathRow{
		{"brackets are a name", "app/[id]/page.tsx", true, false},
		{"a literal star", "app/*", true, false},
		{"literal braces", "{src,.env}", false, false},
	})
	checkRows(t, expands, project, "src/", ".env", []pathRow{
		{"star", "src/*", false, false},
		{"braces", "{src,.env}", false, true},
		{"question mark", ".en?", false, true},
		{"class", ".e[n]v", false, true},
		{"negated class", ".e[^x]v", false, true},
		{"star at the root", "*", false, true},
		{"double star", "**", false, true},
		{"double star below", "**/x", false, true},
		{"another directory", "src/*.go", false, false},
		{"nested braces", "{x,{y,.e}nv}", false, true},
		{"range", ".{a..z}nv", false, true},
		{"braces that climb", "src/{..,x}/.env", false, true},
		{"pattern that may climb", "src/.*/x", false, true},
		{"extended", "@(.env|x)", false, true},
		{"unclosed class, read widely", ".e[nv*", false, true},
		{"no expansion", "src/a", true, false},
		{"absolute star", "/srv/proj/.e*", false, true},
		{"absolute star elsewhere", "/etc/.e*", false, false},
		{"too many words", "{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}", false, true},
		{"unclosed brace", "{a", false, false},
	})
}

// Proves C16, A11.
func TestC16_InvisibleCharacters(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"NUL", ".env\x00.png", false, true},
		{"newline", ".env\n", false, true},
		{"CR inside", ".e\rnv", false, true},
		{"bidi", ".e\u202env", false, true},
		{"zero width", ".e\u200bnv", false, true},
		{"ignored by a file system", ".e\u206anv", false, true},
		{"variation selector", ".env\ufe0f", false, true},
		{"soft hyphen", "src/a\u00adb", false, false},
		{"control below src", "src/a\x01", false, false},
		{"line separator", "src/a\u2028", false, false},
		{"C1 control", "src/a\u009b", false, false},
	})
}

// Proves C18.
func TestC18_Climbs(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"above the root", "a/b/../../../x", false, false},
		{"above the root to a name", "a/b/../../../.env", false, true},
		{"above everything", "/../src/a", false, false},
		{"the parent", "..", false, false},
	})
	for _, c := range []struct {
		literal, value string
		env            condition.Env
		want           bool
	}{
		{"..", "../x", project, true},
		{"..", "a/../../x", project, true},
		{"..", "x", project, false},
		{"..", "/srv/x", nowhere, false},
		{"../keys", "../keys/x", project, true},
		{"../keys", "/srv/keys/x", project, true},
		{"../keys", "keys/x", project, false},
		{"../keys", "/a/keys/x", nowhere, true},
		{"../../../keys", "/keys/x", project, true},
		{"/srv/keys", "../keys/x", project, true},
		{"/etc", "../../../etc/passwd", nowhere, true},
		{"/etc", "../etc/passwd", project, false},
	} {
		m := compile(t, spec(condition.Prefix, c.literal), aPath, restrictive, c.env)
		if got := m.Match([]byte(c.value)); got != c.want {
			t.Errorf("restrictive prefix %s on %q with root %q: %v, want %v", c.literal, c.value, c.env.Root, got, c.want)
		}
	}
}

// Proves C19.
func TestC19_ProcAndDev(t *testing.T) {
	may := compile(t, spec(condition.Prefix, "/"), aPath, permissive, project)
	for v, want := range map[string]bool{
		"/proc/self/root/etc": false, "/dev/fd/3": false, "/proc": false, "/x/../dev/mem": false,
		"/processes/x": true, "/device": true, "/srv/proj/src/a": true,
	} {
		if got := may.Match([]byte(v)); got != want {
			t.Errorf("permissive prefix / on %q: %v, want %v", v, got, want)
		}
	}
	slash := condition.Env{Root: "/"}
	may = compile(t, spec(condition.Glob, "**"), aPath, permissive, slash)
	for v, want := range map[string]bool{"proc/self": false, "dev": false, "x/y": true, "/x/y": true, "/proc/1": false} {
		if got := may.Match([]byte(v)); got != want {
			t.Errorf("permissive ** below / on %q: %v, want %v", v, got, want)
		}
	}
	may = compile(t, spec(condition.Glob, "**"), aPath, permissive, condition.Env{Root: "/proc/self/cwd"})
	if may.Match([]byte("x")) {
		t.Error("a root below /proc grants")
	}
	shadow := compile(t, spec(condition.Prefix, "/etc/shadow"), aPath, restrictive, project)
	secret := compile(t, spec(condition.Prefix, "secret"), aPath, restrictive, project)
	for v, want := range map[string][2]bool{
		"/proc/self/root/etc/shadow": {true, false}, "/proc/1/root/etc/shadow": {true, false}, "/proc/1/task/1/root/etc/shadow": {true, false},
		"/proc/x/../self/root/proc/1/root/etc/shadow": {true, false}, "/proc/self/cwd/secret/key": {false, true}, "/proc/9/cwd/./secret": {false, true},
		"/proc/self/root/srv/proj/secret": {false, true}, "/proc/self/status": {false, false}, "/root/etc/shadow": {false, false},
	} {
		if got := [2]bool{shadow.Match([]byte(v)), secret.Match([]byte(v))}; got != want {
			t.Errorf("restrictive prefixes /etc/shadow and secret on %q: %v, want %v", v, got, want)
		}
	}
}
