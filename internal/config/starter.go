package config

import _ "embed"

//go:embed starter.toml
var starter []byte

// Starter is the policy that holds when no policy file is found (DECISIONS S50):
// everything is asked, and guards keep secrets and settings out of reach.
func Starter() []byte { return starter }
