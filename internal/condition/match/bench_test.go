package match_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// benchmarked has one condition of each kind and a plainly written value.
var benchmarked = []struct {
	name     string
	spec     match.Spec
	target   match.Target
	polarity bool
	value    string
}{
	{"const", spec(match.Const, "status"), aString, permissive, "status"},
	{"enum of 100", spec(match.Enum, hundred()...), aString, permissive, "value-57"},
	{"prefix", spec(match.Prefix, "git "), aString, restrictive, "git commit -m message"},
	{"suffix", spec(match.Suffix, ".go"), aString, restrictive, "internal/server/handler.go"},
	{"glob", spec(match.Glob, "*curl*|*sh*"), aString, restrictive, "curl https://example.com/install"},
	{"pattern", spec(match.Pattern, "^git (status|log)( --oneline)?$"), aString, permissive, "git log --oneline"},
	{"max_length", number(match.MaxLength, "64"), aString, restrictive, "internal/server/handler.go"},
	{"path prefix", spec(match.Prefix, "src/"), aPath, permissive, "src/internal/server/handler.go"},
	{"path prefix, absolute", spec(match.Prefix, "src/"), aPath, permissive, "/srv/proj/src/internal/server/handler.go"},
	{"path prefix, to clean", spec(match.Prefix, "src/"), aPath, permissive, "./src/internal/x/../server/handler.go"},
	{"path prefix, suspicion", spec(match.Prefix, ".env"), aPath, restrictive, "src/internal/server/handler.go"},
	{"path globs, suspicion", spec(match.Glob, "**/.env*", "**/*.pem", "**/.ssh/**"), aPath, restrictive, "src/internal/server/handler.go"},
	{"command prefix", spec(match.Prefix, "go test"), aCommand, permissive, "go test -run X ./internal/condition/match"},
	{"command prefix, suspicion", spec(match.Prefix, "rm"), aCommand, restrictive, "go test -run X ./internal/condition/match"},
	{"url host", spec(match.Host, "*.example.com"), aURL, permissive, "https://api.example.com/v1/items?page=2"},
	{"url host, suspicion", spec(match.Host, "169.254.169.254"), aURL, restrictive, "https://api.example.com/v1/items?page=2"},
	{"url prefix", spec(match.Prefix, "https://api.example.com/v1/"), aURL, permissive, "https://api.example.com/v1/items?page=2"},
}

func hundred() []string {
	var out []string
	for i := range 100 {
		out = append(out, "value-"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	return out
}

// BenchmarkComplete evaluates a complete, plainly written value.
func BenchmarkComplete(b *testing.B) {
	for _, c := range benchmarked {
		b.Run(c.name, func(b *testing.B) {
			m := compile(b, c.spec, c.target, c.polarity, project)
			value := []byte(c.value)
			b.ReportAllocs()
			for b.Loop() {
				m.Match(value)
			}
		})
	}
}

// BenchmarkTenPathRules evaluates ten conditions on one path, none of which matches.
func BenchmarkTenPathRules(b *testing.B) {
	var rules []*match.Matcher
	for _, dir := range []string{"lib", "docs", "test", "vendor", "third_party", "tools", "cmd", "api", "web", "build"} {
		rules = append(rules, compile(b, spec(match.Prefix, dir), aPath, len(rules)%2 == 0, project))
	}
	text := []byte("src/internal/server/handler.go")
	var v match.Value
	b.ReportAllocs()
	for b.Loop() {
		v.Reset(text)
		for _, m := range rules {
			m.Judge(&v)
		}
	}
}

// Matching a plainly written value does not allocate after the first few.
func TestNoAllocations(t *testing.T) {
	for _, c := range benchmarked {
		if c.spec.Kind == match.Pattern {
			continue // tested by the pattern package
		}
		m := compile(t, c.spec, c.target, c.polarity, project)
		value := []byte(c.value)
		var s match.State
		var v match.Value
		for range 50 {
			m.Match(value)
		}
		if n := testing.AllocsPerRun(100, func() {
			v.Reset(value)
			m.Judge(&v)
			if m.Start(&s); m.Incremental() {
				if r, _ := m.Feed(&s, value); r == match.Undecided {
					m.End(&s)
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	p := protected.New(project)
	path, line := []byte("src/internal/server/handler.go"), []byte("go test -run X ./internal/condition/match")
	var v match.Value
	if n := testing.AllocsPerRun(100, func() { p.Path(path); v.Reset(line); p.JudgeCommand(v.AsLine()) }); n != 0 {
		t.Errorf("protected: %v allocations", n)
	}
}

// BenchmarkFeed streams long content to a condition that stays undecided.
func BenchmarkFeed(b *testing.B) {
	chunk := []byte(strings.Repeat("if err != nil { return err }\n", 36))[:1024]
	for _, c := range []struct {
		name     string
		polarity bool
	}{{"permissive", permissive}, {"restrictive", restrictive}} {
		b.Run(c.name, func(b *testing.B) {
			m := compile(b, spec(match.Glob, "*rm -rf*|*curl*"), aString, c.polarity, nowhere)
			var s match.State
			m.Start(&s)
			b.ReportAllocs()
			b.SetBytes(int64(len(chunk)))
			for i := 0; b.Loop(); i++ {
				if i%1000 == 0 {
					m.Start(&s)
				}
				m.Feed(&s, chunk)
			}
		})
	}
}

// BenchmarkNumber compares a number.
func BenchmarkNumber(b *testing.B) {
	m := compile(b, number(match.Maximum, "1000"), match.Target{Type: schema.Number}, permissive, nowhere)
	d := decimal(b, "999.5")
	b.ReportAllocs()
	for b.Loop() {
		m.Number(d)
	}
}

// BenchmarkDisguised evaluates a path with several readings.
func BenchmarkDisguised(b *testing.B) {
	m := compile(b, spec(match.Glob, "**/.env*"), aPath, restrictive, project)
	for _, value := range []string{`src\..\lib`, "src/%2e%2e/lib", "C:\\src\\%41;x", "caf\u00e9/x"} {
		b.Run(value, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Match([]byte(value))
			}
		})
	}
}

// BenchmarkCompile compiles conditions.
func BenchmarkCompile(b *testing.B) {
	for _, c := range []struct {
		name   string
		spec   match.Spec
		target match.Target
	}{
		{"path prefix", spec(match.Prefix, "src/"), aPath},
		{"path globs", spec(match.Glob, "**/.env*", "**/*.pem", "**/.ssh/**"), aPath},
		{"enum of 100", spec(match.Enum, hundred()...), aString},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile(b, c.spec, c.target, restrictive, project)
			}
		})
	}
	b.Run("protected list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			protected.New(project)
		}
	})
}

// BenchmarkProtected evaluates the protected list, which applies to every path and command.
func BenchmarkProtected(b *testing.B) {
	p := protected.New(project)
	path, line := []byte("src/internal/server/handler.go"), []byte("go test -run X ./internal/condition/match")
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Path(path)
		}
	})
	b.Run("command", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Command(line)
		}
	})
}
