package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// Proves X10, S42: on_block = "stop" cancels every unreleased call of the response, earlier and
// later ones, whenever the denial is known; the rows state it.
func TestBlockTurn(t *testing.T) {
	const late = allowAll + "[tools.b]\nparameters = { path = { type = \"string\" } }\n[tools.b.policy]\nrun = [{ arg = \"/path\", const = \"no\", mode = \"deny\" }, { mode = \"unattended\" }]\n"
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " ", stream), func(t *testing.T) {
				k := newTalk(t, in, late, func(o *gateway.Options) { o.Settings.OnBlock = gateway.BlockTurn })
				k.stream, k.tools = stream, []string{"a", "b", "c"}
				body := k.converse([]pastCall{{"c1", "a", `{}`}, {"c2", "b", `{"path":"no"}`}, {"c3", "c", `{}`}}, user("go"))
				mustLack(t, body, `"c1"`, `"c2"`, `"c3"`)
				mustContain(t, body, "`a` was not run", "`b` was not run", "`c` was not run", "(cancelled)")
				want := "a cancelled cancelled, b denied rule_matched, c cancelled cancelled"
				if got := strings.Join(k.log.wait(t, 3), ", "); got != want {
					t.Errorf("rows %s", got)
				}
				body = k.converse([]pastCall{{"c4", "a", `{}`}, {"c5", "b", `{"path":"yes"}`}}, user("go"))
				mustContain(t, body, `"c4"`, `"c5"`)
			})
		}
	}
}
