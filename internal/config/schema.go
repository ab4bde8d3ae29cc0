package config

import _ "embed"

//go:embed policy.schema.json
var policySchema []byte

// PolicySchema is the JSON Schema (draft 2020-12) of policy files, for editors. It
// knows every key of the language and its types; what rules mean is proved by
// policy.Check alone. Whoever adds a key to a table adds it to policy.schema.json.
func PolicySchema() []byte { return policySchema }
