package policy_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// benchCommands are command lines as coding agents write them, from one word to a script.
var benchCommands = []string{
	"ls",
	"git status",
	"cat README.md",
	"go test ./internal/policy -run 'Decide|Commands' 2>&1 | tail -20",
	"cd services/billing && npm run build",
	"grep -rn 'func Compile' --include='*.go' internal | head -5",
	"git add -A && git commit -m 'billing: round amounts half to even'",
	"find . -name '*.py' -not -path './node_modules/*' | xargs wc -l | sort -n",
	"docker ps --format '{{.Names}}' && kubectl get pods -n staging",
	"for f in src/*.ts; do echo \"$f\"; head -1 \"$f\"; done",
	"rm -rf build dist && mkdir -p build && cp config/default.json build/",
	"python3 - <<'EOF'\nimport json\nfor line in open('calls.jsonl'):\n    print(json.loads(line)['tool'])\nEOF",
}

// BenchmarkCommands measures decisions on calls of Bash under the coding starter, for each line:
// one of a shell's tool, and for comparison calls of a tool that reads a file.
func BenchmarkCommands(b *testing.B) {
	files, err := config.StarterFor("coding")
	if err != nil {
		b.Fatal(err)
	}
	p, list := policy.Compile([]policy.Source{{Name: files[0].Name, Text: files[0].Text, Trusted: true}},
		policy.Options{Root: "/srv/project", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil {
		b.Fatal(list)
	}
	own := make([][]byte, 0, len(benchCommands))
	for _, c := range benchCommands {
		own = append(own, arguments(b, "command", c))
	}
	b.Run("own", func(b *testing.B) { decideAll(b, p, "Bash", own) })
	for i, c := range benchCommands {
		b.Run("line="+c[:min(len(c), 24)], func(b *testing.B) { decideAll(b, p, "Bash", own[i:i+1]) })
	}
	b.Run("Read", func(b *testing.B) {
		decideAll(b, p, "Read", [][]byte{arguments(b, "file_path", "/srv/project/internal/policy/doc.go")})
	})
	b.Run("corpus", func(b *testing.B) { decideAll(b, p, "Bash", recordedCommands(b)) })
}

// decideAll decides a call of a tool for each of some arguments, again and again: all of them as often
// as the others, if the number of iterations is a multiple of theirs.
func decideAll(b *testing.B, p *policy.Program, tool string, args [][]byte) {
	call := stopgate.Call{Tool: stopgate.ToolName(tool)}
	rules := p.RulesFor(call, gate.Circumstances{})
	decide := func(args []byte) {
		e := rules.Evaluate(nil)
		e.Feed(args)
		e.Close(stopgate.Ended)
		e.Release()
	}
	for i := range max(2000, len(args)) { // the first values build automata
		decide(args[i%len(args)])
	}
	b.ReportAllocs()
	start := cpu.Time()
	for i := 0; b.Loop(); i++ {
		decide(args[i%len(args)])
	}
	cpu.Report(b, start)
}

func arguments(b *testing.B, name, value string) []byte {
	args, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		b.Fatal(err)
	}
	return args
}

// recordedCommands are the arguments of the labelled command lines next to the checkout.
func recordedCommands(b *testing.B) (list [][]byte) {
	f, err := os.Open(corpus.Path(b, "commands", "labelled.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Command string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			b.Fatal(err)
		}
		list = append(list, arguments(b, "command", c.Command))
	}
	return list
}
