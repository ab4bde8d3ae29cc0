package cli

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A line appears after a second, fits the window, and is gone at the end without an escape.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		var width atomic.Int64
		width.Store(80)
		p := startProgress(&out, func() int { return int(width.Load()) }, "reading", "rows", 40)
		for _, c := range []struct {
			after time.Duration
			rows  int
			width int64
			want  string
		}{
			{999 * time.Millisecond, 0, 80, ""},
			{time.Millisecond, 0, 80, "\rreading rows, 1 s"},
			{progressEvery, 10, 80, "\rreading 10 of 40 rows, 25 %"},
			{progressEvery, 35, 80, "\rreading 45 rows            "}, // more than was expected
			{progressEvery, 0, 10, "\rreading 4      "},
		} {
			out.Reset()
			p.Add(c.rows)
			width.Store(c.width)
			time.Sleep(c.after)
			synctest.Wait()
			if out.String() != c.want {
				t.Errorf("after %v: %q, want %q", c.after, out.String(), c.want)
			}
		}
		out.Reset()
		p.End()
		p.End()
		if want := "\r" + strings.Repeat(" ", 9) + "\r"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		out.Reset()
		short := startProgress(&out, func() int { return 80 }, "reading", "rows", 0)
		time.Sleep(progressDelay / 2)
		short.End()
		if out.Len() != 0 {
			t.Errorf("a short operation shows %q", out.String())
		}
	})
	var out strings.Builder
	none := StartProgress(Streams{Err: &out}, "reading", "rows", 0)
	none.Add(1)
	none.Set(1, 2)
	none.End()
	if none != nil || out.Len() != 0 {
		t.Error("progress without a terminal")
	}
}
