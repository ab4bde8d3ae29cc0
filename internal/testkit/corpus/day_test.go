package corpus

import (
	"encoding/json"
	"os"
	"testing"
)

// The calls of the day are the ones that the seed draws; with STOPGATE_DRAW=1 the file is
// written, which is for a new day only.
func TestDay(t *testing.T) {
	dir := Path(t)
	if os.Getenv("STOPGATE_DRAW") == "1" {
		calls, err := drawDay(dir)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
		out, err := json.MarshalIndent(ids, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("day.json", append(out, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	calls, err := Day(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != daySize {
		t.Errorf("the day has %d calls, want %d", len(calls), daySize)
	}
}
