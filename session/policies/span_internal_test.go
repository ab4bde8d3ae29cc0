package policies

import "testing"

// Proves TPS-11: spans and numbers as people write them.
func TestSpan(t *testing.T) {
	for ms, want := range map[int64]string{
		60: "60ms", 1500: "1.5s", 60_000: "1m", 90_000: "1m30s", 3_600_000: "1h", 5_400_000: "1h30m", 3_601_000: "1h0m1s", 36_000_000: "10h", 600_000: "10m", 10_000: "10s",
	} {
		if got := span(ms); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
	if times(1) != "1 call" || times(20) != "20 calls" {
		t.Error(times(1), times(20))
	}
}
