package index

import (
	"fmt"
	"strings"
	"testing"
)

// Pointers are kept as they are, whatever their keys look like, within a bound.
func TestPointers(t *testing.T) {
	cases := []string{"", "/", "/0", "/00", "/-1", "/a/0/b", "/a/12345678901234567890123/b", "/#", "/#/0", "/##/1/#a", "//0//", "/0/1/2/3/4/5/6/7/8/9/10", "/a~1b/~0", "/9223372036854775807", "/x#5/7", "0", "x12"}
	var p pointers
	for range 20 {
		for _, c := range cases {
			p.add(c)
		}
	}
	for i := range 20 * len(cases) {
		if got := p.at(i); got != cases[i%len(cases)] {
			t.Errorf("%q became %q", cases[i%len(cases)], got)
		}
	}
	if long := clip("/" + strings.Repeat("a/", 300)); len(long) > maxPointer || strings.HasSuffix(long, "/") {
		t.Errorf("clipped to %q", long)
	}
	for i := range 10_000 {
		p.add(fmt.Sprintf("/%s%d", strings.Repeat("k", 50), i))
	}
	if size := p.size(); size > 3*maxForms {
		t.Errorf("%d bytes", size)
	}
	if last := p.at(p.n - 1); last != "" {
		t.Errorf("a pointer beyond the bound is %q", last)
	}
}
