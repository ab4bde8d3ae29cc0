package begin

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
)

// casesName is the file with the test cases of the policy.
const casesName = "stopgate" + suite.Suffix

// cases returns test cases for the policy: one of the examples of the screen for each of what it lets
// run, asks about and denies. Policies of the user and of the machine do not count, since tests of the
// project run elsewhere too.
func (p *plan) cases(home string) ([]byte, error) {
	own := policy.Source{Name: filepath.Join(p.root, config.FileName), Text: p.policy, Trusted: true}
	program, found := policy.Compile([]policy.Source{own}, policy.Options{Root: p.root, Home: home})
	if program == nil {
		return nil, config.MistakesError{List: found}
	}
	list, err := p.decided(program)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# What the policy decides: a case of each kind. Add yours, then run: stopgate test\n")
	for _, mode := range []string{"unattended", "ask", "deny"} {
		for _, e := range list {
			if e.Mode == mode {
				e.write(&b)
				break
			}
		}
	}
	return b.Bytes(), nil
}

// write appends an example as a test case.
func (e example) write(b *bytes.Buffer) {
	for key, value := range e.args {
		fmt.Fprintf(b, "\n[[case]]\nname = %s\ntool = %q\nargs = { %s = %s }\nexpect = %q\n", strconv.Quote(e.Text), e.tool, key, strconv.Quote(value), e.Mode)
	}
}
