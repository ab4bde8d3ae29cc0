package config

import _ "embed"

//go:embed policy.schema.json
var policySchema []byte

// PolicySchema returns the JSON Schema (draft 2020-12) of policy files, for editors: every key
// of the language with its type. Only policy.Check checks the meaning of rules. A new key needs
// its entry in policy.schema.json.
func PolicySchema() []byte { return policySchema }
