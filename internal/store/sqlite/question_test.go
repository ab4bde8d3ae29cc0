package sqlite_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	records "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// The write-ahead log of SQLite: a header, then pages with a header each; the header of the last
// page of a transaction holds the size of the file.
const (
	logHeader   = 32
	frameHeader = 24
)

// frames counts the pages and the transactions in a log.
func frames(t *testing.T, log []byte) (pages, commits, size int) {
	t.Helper()
	if len(log) < logHeader {
		return 0, 0, 0
	}
	size = frameHeader + int(binary.BigEndian.Uint32(log[8:]))
	for rest := log[logHeader:]; len(rest) >= size; rest = rest[size:] {
		pages++
		if binary.BigEndian.Uint32(rest[4:]) != 0 {
			commits++
		}
	}
	return pages, commits, size
}

// Proves S25, I22, I23: a call that is referred to the prompt of its host is one transaction: the
// question, its end and the facts. If the log is cut anywhere, as by a crash, either all of it is
// there or nothing; a question for a person is a transaction of its own before.
func TestReferredQuestionIsOneTransaction(t *testing.T) {
	p, mistakes := prove.Compile([]policy.Source{{Name: "ask.toml", Text: []byte("version = 1\n[tools.t.policy]\nrun = \"ask\"\n"), Trusted: true}}, policy.Options{})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	for immediate, transactions := range map[bool]int{true: 1, false: 2} {
		path := filepath.Join(t.TempDir(), "s.db")
		s := open(t, path)
		g, err := gate.New(p, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult),
			gate.WithApprover(ports.Able{
				Can: gate.Abilities{Reachable: true, Immediate: immediate},
				Answer: func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
					v, err := q.Complete(ctx)
					return v.Refer("the host"), err
				},
			}))
		if err != nil {
			t.Fatal(err)
		}
		call := stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{}`)}
		read := func(name string) []byte {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		before, _, _ := frames(t, read(path+"-wal"))
		out, err := g.Decide(ctx, call)
		if err != nil || !out.Allowed() || !out.Approval.Referred {
			t.Fatalf("%v %v", out.Verdict, err)
		}
		file, log := read(path), read(path+"-wal")
		pages, commits, size := frames(t, log)
		_, earlier, _ := frames(t, log[:logHeader+before*size])
		if got := commits - earlier; got != transactions {
			t.Errorf("immediate %t: %d transactions of %d pages, want %d", immediate, got, pages-before, transactions)
		}
		for n := before; n <= pages; n++ {
			rows, facts := crashed(t, file, log[:logHeader+n*size])
			whole := facts == 1
			if immediate && (rows != 0 && rows != 2 || whole != (rows == 2)) || !immediate && whole != (rows == 2) || (n == pages) != whole {
				t.Errorf("immediate %t: with %d of %d pages there are %d rows and %d facts", immediate, n-before, pages-before, rows, facts)
			}
		}
	}
}

// crashed opens a store as a crash leaves it, and counts its rows and facts.
func crashed(t *testing.T, file, log []byte) (rows int, facts int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	for name, text := range map[string][]byte{path: file, path + "-wal": log} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	chain := audit.NewVerifier()
	err := records.Rows(ctx, s.Database(), 0, records.Selection{}, func(_ int64, line []byte) bool {
		if err := chain.Row(append(line, '\n')); err != nil {
			t.Error(err)
		}
		rows++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Facts(ctx, session.Owner{Principal: "local", Session: "s"}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	return rows, len(list)
}
