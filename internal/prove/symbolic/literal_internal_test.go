package symbolic

import "testing"

func TestLongestLiteral(t *testing.T) {
	for _, test := range []struct{ glob, want string }{
		{"src/**/*.go", "src/"}, {"**/secrets.json", "/secrets.json"}, {"a{bc,d}e", "a"}, {"{abc,d}ef", "ef"},
		{"[!]abc*]d", "d"}, {"[]abc*]d", "d"}, {"{[}]foo*,bar}x", "x"}, {"a?bcd*e", "bcd"}, {"lib!(foo|*bar)", ""}, {`a\*bc`, ""}, {"*", ""},
	} {
		if got := longestLiteral(test.glob); got != test.want {
			t.Errorf("%s: %q, want %q", test.glob, got, test.want)
		}
	}
}
