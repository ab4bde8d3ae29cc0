package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/schema"
)

// benchmarked has one condition of each kind and a plainly written value.
var benchmarked = []struct {
	name     string
	spec     condition.Spec
	target   condition.Target
	polarity bool
	value    string
}{
	{"const", spec(condition.Const, "status"), aString, permissive, "status"},
	{"enum of 100", spec(condition.Enum, hundred()...), aString, permissive, "value-57"},
	{"prefix", spec(condition.Prefix, "git "), aString, restrictive, "git commit -m message"},
	{"suffix", spec(condition.Suffix, ".go"), aString, restrictive, "internal/server/handler.go"},
	{"glob", spec(condition.Glob, "*curl*|*sh*"), aString, restrictive, "curl https://example.com/install"},
	{"pattern", spec(condition.Pattern, "^git (status|log)( --oneline)?$"), aString, permissive, "git log --oneline"},
	{"max_length", number(condition.MaxLength, "64"), aString, restrictive, "internal/server/handler.go"},
	{"path prefix", spec(condition.Prefix, "src/"), aPath, permissive, "src/internal/server/handler.go"},
	{"path prefix, absolute", spec(condition.Prefix, "src/"), aPath, permissive, "/srv/proj/src/internal/server/handler.go"},
	{"path prefix, to clean", spec(condition.Prefix, "src/"), aPath, permissive, "./src/internal/x/../server/handler.go"},
	{"path prefix, suspicion", spec(condition.Prefix, ".env"), aPath, restrictive, "src/internal/server/handler.go"},
	{"path globs, suspicion", spec(condition.Glob, "**/.env*", "**/*.pem", "**/.ssh/**"), aPath, restrictive, "src/internal/server/handler.go"},
	{"command prefix", spec(condition.Prefix, "go test"), aCommand, permissive, "go test -run X ./internal/condition/match"},
	{"command prefix, suspicion", spec(condition.Prefix, "rm"), aCommand, restrictive, "go test -run X ./internal/condition/match"},
	{"url host", spec(condition.Host, "*.example.com"), aURL, permissive, "https://api.example.com/v1/items?page=2"},
	{"url host, suspicion", spec(condition.Host, "169.254.169.254"), aURL, restrictive, "https://api.example.com/v1/items?page=2"},
	{"url prefix", spec(condition.Prefix, "https://api.example.com/v1/"), aURL, permissive, "https://api.example.com/v1/items?page=2"},
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
		rules = append(rules, compile(b, spec(condition.Prefix, dir), aPath, len(rules)%2 == 0, project))
	}
	text := []byte("src/internal/server/handler.go")
	var v condition.Value
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
		if c.spec.Kind == condition.Pattern {
			continue // tested by the pattern package
		}
		m := compile(t, c.spec, c.target, c.polarity, project)
		value := []byte(c.value)
		var s condition.State
		var v condition.Value
		for range 50 {
			m.Match(value)
		}
		if n := testing.AllocsPerRun(100, func() {
			v.Reset(value)
			m.Judge(&v)
			if m.Start(&s); m.Incremental() {
				if r, _ := m.Feed(&s, value); r == condition.Undecided {
					m.End(&s)
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	p := protected.New(project)
	path, line := []byte("src/internal/server/handler.go"), []byte("go test -run X ./internal/condition/match")
	var v condition.Value
	if n := testing.AllocsPerRun(100, func() { p.Path(path); v.Reset(line); p.CommandOf(&v) }); n != 0 {
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
			m := compile(b, spec(condition.Glob, "*rm -rf*|*curl*"), aString, c.polarity, nowhere)
			var s condition.State
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
	m := compile(b, number(condition.Maximum, "1000"), condition.Target{Type: schema.Number}, permissive, nowhere)
	d := decimal(b, "999.5")
	b.ReportAllocs()
	for b.Loop() {
		m.Number(d)
	}
}

// BenchmarkDisguised evaluates a path with several readings.
func BenchmarkDisguised(b *testing.B) {
	m := compile(b, spec(condition.Glob, "**/.env*"), aPath, restrictive, project)
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
		spec   condition.Spec
		target condition.Target
	}{
		{"path prefix", spec(condition.Prefix, "src/"), aPath},
		{"path globs", spec(condition.Glob, "**/.env*", "**/*.pem", "**/.ssh/**"), aPath},
		{"enum of 100", spec(condition.Enum, hundred()...), aString},
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
