package terminal_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/terminal"
)

// A program with a screen of its own shows a question as stopgate does.
func ExampleFrame() {
	e := approve.Entry{Tool: "fs_write", Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Complete: true, Args: `{"path":"go.mod"}`}
	frame := terminal.Frame(e, time.Now(), true)
	fmt.Println(strings.Contains(frame, "fs_write"), strings.Contains(frame, "go.mod"))
	// Output: true true
}
