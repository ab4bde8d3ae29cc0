//go:build unix

package packs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// Proves E25: what the starter costs for a command line grows with its length, and not with the square of it, whatever
// the line repeats. Each of the first eight took a second or more at some length up to 64 KiB.
func TestGrowthOfLines(t *testing.T) {
	files, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	command := judge(t, string(files[0].Text))
	cost := func(line string) time.Duration {
		before := cpu.Time()
		command(line)
		return cpu.Time() - before
	}
	const size, times = 4 << 10, 8
	for _, c := range []struct{ head, unit, tail string }{
		{"", "a\x00", ""}, {"x '", "=", "'"}, {"x '", "a=", " b'"}, {"", "cd a;", ""}, {"x \"", "*", ""}, {"", "a[0]=", ""}, {"", "command ", ""}, {"", "[[ ", ""},
		{"", "sudo ", ""}, {"", "timeout 1 ", ""}, {"", "env a=b ", ""}, {"", "eval ", ""}, {"", "git -C a ", ""}, {"", "docker ", ""}, {"", "> a ", ""}, {"cat <<E\n", "$(a)", ""},
		{"", "${a/b/c}", ""}, {"find", " -name a", ""}, {"", "ls *.a;", ""}, {"x \"", "`a`", ""}, {"cat", " a/.env", ""}, {"", "curl ", ""}, {"tar", " -C a", ""}, {"sed '", "w a\n", "'"},
	} {
		short := cost(c.head + strings.Repeat(c.unit, size/len(c.unit)) + c.tail)
		long := cost(c.head + strings.Repeat(c.unit, times*size/len(c.unit)) + c.tail)
		if long > 3*times*short && long > 500*time.Millisecond {
			t.Errorf("%q: %d bytes cost %v, %d times as many %v", c.head+c.unit, size, short, times, long)
		}
	}
}
