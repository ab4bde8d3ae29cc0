package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// The test binary is its own child process: with this variable, the name of a gate and a URL, it
// writes rows until it is killed.
const childEnv = "STOPGATE_PGRECORDS_CHILD"

func TestMain(m *testing.M) {
	if gate, location, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		os.Exit(child(gate, location))
	}
	os.Exit(m.Run())
}

// child writes rows from several goroutines and prints the acknowledged ones to stdout, each in one
// write. Stdout carries acknowledgements only: a connection that the server ends while the child
// opens the database is an error on stderr.
func child(gate, location string) int {
	ctx := context.Background()
	db, err := pgdb.Open(ctx, location, postgres.Tables)
	if err != nil {
		fmt.Fprintln(os.Stderr, "open", err)
		return 1
	}
	r, err := postgres.New(db, postgres.Options{Gate: gate, Arguments: audit.KeepFull})
	if err != nil {
		fmt.Fprintln(os.Stderr, "new", err)
		return 1
	}
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%d-%d-", os.Getpid(), c)
				if r.Record(ctx, row(name, i)) == nil { // an error is no promise
					os.Stdout.WriteString(fmt.Sprintf("%s%d\n", name, i))
				}
			}
		})
	}
	callers.Wait()
	return 0
}

// gateProcess is a running child.
type gateProcess struct {
	cmd   *exec.Cmd
	first chan struct{} // closed after the first acknowledged row
	acks  chan []string
	// pruned reports that rows were pruned while the process ran.
	pruned bool
}

func startGate(t *testing.T, gate, location string) *gateProcess {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &gateProcess{cmd: exec.Command(exe), first: make(chan struct{}), acks: make(chan []string, 1)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+gate+" "+location)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.collect(out)
	return p
}

func (p *gateProcess) collect(out io.Reader) {
	var ids []string
	first := sync.OnceFunc(func() { close(p.first) })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		ids = append(ids, lines.Text())
		first()
	}
	first()
	p.acks <- ids
}

// kill ends the process without a warning and returns the rows that it was promised.
func (p *gateProcess) kill() []string {
	_ = p.cmd.Process.Kill()
	ids := <-p.acks
	_ = p.cmd.Wait()
	return ids
}

// Proves I22, I23, S25: gates that are killed at any step, connections that the server ends and
// pruning at the same time lose no row that was acknowledged, write none twice, and leave every chain
// whole. Gates of one name share its chains one after the other.
func TestKilledGates(t *testing.T) {
	location := server.Database(t)
	pruner, _ := open(t, location, "pruner")
	promised := map[string]bool{} // whether rows were pruned while their writer ran
	gates := []string{"a", "a", "b"}
	running := make([]*gateProcess, len(gates))
	pruning := true
	begin := func(i int) {
		running[i] = startGate(t, gates[i], location)
		running[i].pruned = pruning
	}
	kill := func(i int) {
		<-running[i].first
		for _, id := range running[i].kill() {
			promised[id] = running[i].pruned
		}
	}
	for i := range gates {
		begin(i)
	}
	rounds, gone := property.Cases(8, 16, 200), int64(0)
	for round := range rounds {
		i := rand.IntN(len(gates))
		<-running[i].first
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		switch round % 3 {
		case 0:
			execute(t, location, "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = 'stopgate' AND datname = current_database() ORDER BY random() LIMIT 2) x")
		case 1:
			if pruning = round < rounds/2; pruning {
				p, err := pruner.Prune(t.Context(), postgres.Retention{Rows: time.Now().Add(-200 * time.Millisecond)}, time.Now())
				gone += p.Rows
				t.Logf("pruned %d, %v", p.Rows, err)
			}
		}
		kill(i)
		begin(i)
	}
	for i := range gates {
		kill(i)
	}
	check, err := logOf(t, location).Verify(t.Context())
	if err != nil || check.Err() != nil {
		t.Fatalf("%v, %v", err, check.Err())
	}
	// A killed gate leaves a connection for a moment, and the next one then takes another chain.
	if n := len(check.Chains); n > len(gates)*4 {
		t.Errorf("%d chains of %d gates", n, len(gates))
	}
	found := map[string]int{}
	_, err = logOf(t, location).Rows(t.Context(), records.Mark{}, nil, func(r records.Row) bool {
		if r.Checkpoint == nil {
			found[string(r.ID)]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	missing := int64(0)
	for id, pruned := range promised {
		switch {
		case found[id] > 0:
		case !pruned:
			t.Errorf("the row of %s is missing", id)
		default:
			missing++
		}
	}
	for id, n := range found {
		if n > 1 {
			t.Errorf("%s has %d rows", id, n)
		}
	}
	if missing > gone {
		t.Errorf("%d acknowledged rows are missing, %d were pruned", missing, gone)
	}
	t.Logf("%d rows acknowledged, %d found, %d pruned, %d chains", len(promised), len(found), gone, len(check.Chains))
}
