package round_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/round"
)

// Proves FM13: a sealed state expires, also if the clock is set back to before its creation; a
// correction by seconds does not invalidate it.
func TestStatesEnd(t *testing.T) {
	s, err := round.NewSealer(nil)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := s.Seal(round.State{Call: round.Call{Session: "s"}, Issued: made, Expires: made.Add(round.TTL)})
	for after, valid := range map[time.Duration]bool{
		0: true, round.TTL - time.Second: true, round.TTL: false, 24 * time.Hour: false,
		-30 * time.Second: true, -2 * time.Minute: false, -24 * time.Hour: false,
	} {
		st, err := s.Open(text, made.Add(after))
		if (err == nil) != valid || st.Session != "" != valid {
			t.Errorf("%v later: %+v %v", after, st, err)
		}
	}
}
