package cli

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// Completion never fails, and never keeps a shell waiting.
func TestLookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			find  func(ctx context.Context, cmd *cobra.Command) []string
			given []string
			text  string
			want  []string
		}{
			"words":         {find: func(context.Context, *cobra.Command) []string { return []string{"ab\tfirst", "ac", "b"} }, text: "a", want: []string{"ab\tfirst", "ac"}},
			"given already": {find: func(context.Context, *cobra.Command) []string { return []string{"ab\tfirst", "ac"} }, given: []string{"ab"}, want: []string{"ac"}},
			"a panic":       {find: func(context.Context, *cobra.Command) []string { panic("broken") }},
			"too late":      {find: func(ctx context.Context, _ *cobra.Command) []string { time.Sleep(time.Minute); return []string{"a"} }},
		} {
			start := time.Now()
			got, directive := LookUp(c.find)(&cobra.Command{}, c.given, c.text)
			if !slices.Equal(got, c.want) || directive != cobra.ShellCompDirectiveNoFileComp || time.Since(start) > completionLimit {
				t.Errorf("%s: %q after %v", name, got, time.Since(start))
			}
		}
		time.Sleep(time.Hour) // find ends
	})
}

// Lines are broken between words, below the last column of a table; a word that is longer than the window
// stays whole.
func TestFit(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, c := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"one two three four five six seven eight nine ten", "one two three four five six seven eight\n  nine ten"},
		{"  --flag NAME   a description that is longer than the window is\n\n", "  --flag NAME   a description that is\n                longer than the window\n                is\n\n"},
		{"hint: " + long + " and more\n", "hint:\n  " + long + "\n  and more\n"},
		{long + "\n", long + "\n"},
		{"\x1b[1;31mdeny\x1b[0m: one two three four five six seven eight\n", "\x1b[1;31mdeny\x1b[0m: one two three four five six seven\n  eight\n"},
	} {
		if got := fit(c.text, 40); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := fit(c.text, 0); got != c.text {
			t.Errorf("without a terminal: %q", got)
		}
	}
	var out strings.Builder
	if got := Fit(&out, long+" "+long); got != long+" "+long {
		t.Errorf("%q", got)
	}
}
