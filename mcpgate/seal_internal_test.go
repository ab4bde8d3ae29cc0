package mcpgate

import (
	"testing"
	"time"
)

// Proves FM13: a sealed state expires, also if the clock is set back to before its creation; a
// correction by seconds does not invalidate it.
func TestStatesEnd(t *testing.T) {
	s, err := newSealer(nil)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := s.seal(state{Session: "s", Issued: made, Expires: made.Add(stateTTL)})
	for after, valid := range map[time.Duration]bool{
		0: true, stateTTL - time.Second: true, stateTTL: false, 24 * time.Hour: false,
		-30 * time.Second: true, -2 * time.Minute: false, -24 * time.Hour: false,
	} {
		st, err := s.open(text, made.Add(after))
		if (err == nil) != valid || st.Session != "" != valid {
			t.Errorf("%v later: %+v %v", after, st, err)
		}
	}
}
