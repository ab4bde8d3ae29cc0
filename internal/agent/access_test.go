package agent_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/chat"
)

// Proves D25-49: an allowed call touches only the files that the policy lets its tool touch, and
// the model reads why; without enforcement nothing is held back.
func TestAccess(t *testing.T) {
	const policy = "version = 1\n[tools.\"*\"]\npolicy.run = \"unattended\"\n[tools.fs_create_file]\naccess.write = [\"src/\"]\npolicy.run = \"unattended\"\n"
	const script = `turn
call fs_create_file
  path string src/a
  content string x
call fs_create_file
  path string docs/a
  content string x
turn
say Done.
`
	for observe, wants := range map[string][2]string{
		"": {"x", ""}, "[gate]\nenforcement = \"observe\"\n": {"x", "x"},
	} {
		r := chat.New(t, chat.Options{Policy: policy + observe, Script: script})
		if end := <-r.Process(t.Context(), "go"); end.Err != nil {
			t.Fatal(end.Err)
		}
		if got := [2]string{r.File("src/a"), r.File("docs/a")}; got != wants {
			t.Errorf("%q: %q", observe, got)
		}
		list := r.Entries()
		last := list[len(list)-2]
		if refused := strings.Contains(last.Text, "access: fs_create_file may write only src; docs/a is not there"); refused != (observe == "") {
			t.Errorf("%q: %+v", observe, last)
		}
	}
}
