package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/audit"
)

// Processes that write one head file in turn, and find it as another one or a crash left it, agree with a
// reader that knows nothing of it: the newest head stays, and the slot of the older one is overwritten.
func TestHeadFileOfSeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db-head")
	writers := []*headFile{{path: path}, {path: path}}
	var newest int64
	random := rand.New(rand.NewPCG(1, 2))
	for step := range 300 {
		to := audit.Head{Chain: "c", Seq: max(newest-2+random.Int64N(5), 1), Hash: fmt.Sprint(step)}
		before, older, err := (&headFile{path: path}).read()
		if err != nil {
			t.Fatal(err)
		}
		accepted := random.IntN(10) == 0
		if err := writers[random.IntN(2)].move(to, accepted); err != nil {
			t.Fatal(err)
		}
		after, next, err := (&headFile{path: path}).read()
		switch moves := accepted || to.Seq > before.Seq; {
		case err != nil || moves && after != to || !moves && after != before:
			t.Fatalf("step %d: %+v after %+v moved to %+v, accepted %t, %v", step, after, before, to, accepted, err)
		case moves && !accepted && next != 1-older:
			t.Fatalf("step %d: the newer slot was overwritten", step)
		}
		if newest = after.Seq; random.IntN(10) == 0 { // a torn write of the newer slot
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt([]byte("torn"), int64(1-next)*slot); err != nil {
				t.Fatal(err)
			}
			file.Close()
			if left, _, err := (&headFile{path: path}).read(); err != nil || left.Seq > newest {
				t.Fatal(left, err)
			} else {
				newest = left.Seq
			}
		}
	}
	for _, w := range writers {
		w.close()
	}
}
