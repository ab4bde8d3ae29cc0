package corpus

import (
	"encoding/json"
	"os"
	"testing"
)

// The calls of the days are the ones that the seeds draw; with STOPGATE_DRAW=1 the files are
// written, which is for new days only.
func TestDays(t *testing.T) {
	dir := Path(t)
	if os.Getenv("STOPGATE_DRAW") == "1" {
		day, err := drawDay(dir)
		if err != nil {
			t.Fatal(err)
		}
		days, err := drawDays(dir)
		if err != nil {
			t.Fatal(err)
		}
		write(t, "day.json", idsOf(day))
		write(t, "days.json", [][]string{idsOf(days[0]), idsOf(days[1])})
		return
	}
	day, err := Day(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(day) != daySize {
		t.Errorf("the day has %d calls, want %d", len(day), daySize)
	}
	days, err := Days(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, day := range days {
		if len(day) < daySize {
			t.Errorf("day %d has %d calls, want at least %d", i+1, len(day), daySize)
		}
		for _, c := range day {
			if seen[c.ID] {
				t.Errorf("%s is drawn twice", c.ID)
			}
			seen[c.ID] = true
		}
	}
}

func write(t *testing.T, name string, ids any) {
	t.Helper()
	out, err := json.MarshalIndent(ids, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(out, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
