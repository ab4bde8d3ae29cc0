package regular

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/regexp/alternating"
)

// JoinWithin is Join with limits, so that tests reach what only large automata do.
func JoinWithin(l alternating.Limits, members ...*Language) *Automaton {
	return &Automaton{program(members).Table(l)}
}

// PropertyNames are all texts in the braces of \p that name a property, in order.
func PropertyNames() []string {
	names := append(strings.Fields(categoryNames), strings.Fields(binaryProperties)...)
	for _, script := range strings.Fields(scriptCodes) {
		names = append(names, "Script="+script, "scx="+script)
	}
	for _, script := range []string{"Ahom", "Cham", "Kawi", "Lisu", "Modi", "Newa", "Thai", "Toto"} {
		names = append(names, "sc="+script, "Script_Extensions="+script)
	}
	slices.Sort(names)
	return names
}
