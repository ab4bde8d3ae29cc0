package operate

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/servers"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// Rows are those of the only chain, or of the chain of this gate; another chain can be named.
func TestRowReader(t *testing.T) {
	for kind, at := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "s.db"), "postgres": postgres.Database(t)} {
		reader := rowReader{at, "b"}
		if kind == "postgres" {
			if rows, err := reader.Rows(t.Context(), "", 0, 10); len(rows) != 0 || err != nil {
				t.Errorf("%s: %d rows of an empty store, %v", kind, len(rows), err)
			}
		}
		chains := map[string]string{}
		for _, gate := range []string{"a", "b"} {
			s, err := servers.Open(t.Context(), at, backend.Options{Gate: gate})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				row := &stopgate.Record{Version: 1, Time: time.Now(), Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(fmt.Sprint(gate, i))}
				if err := s.Recorder().Record(t.Context(), row); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			rows, err := rowReader{at, gate}.Rows(t.Context(), "", 0, 1)
			if err != nil || len(rows) != 1 {
				t.Fatalf("%s: %d rows, %v", kind, len(rows), err)
			}
			chains[gate] = rows[0].Chain
		}
		for _, c := range []struct {
			chain string
			after int64
			want  map[string]string
		}{
			{"", 1, map[string]string{"sqlite": "[a1 a2]", "postgres": "[b1 b2]"}},
			{chains["a"], 2, map[string]string{"sqlite": "[a2 a3]", "postgres": "[a2 a3]"}},
		} {
			rows, err := reader.Rows(t.Context(), c.chain, c.after, 2)
			var ids []stopgate.ProposalID
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			if err != nil || fmt.Sprint(ids) != c.want[kind] {
				t.Errorf("%s, chain %q after %d: %v, want %s, %v", kind, c.chain, c.after, ids, c.want[kind], err)
			}
		}
		if _, err := reader.Rows(t.Context(), "X", 0, 2); err == nil {
			t.Errorf("%s: a chain that is not there has rows", kind)
		}
	}
}
