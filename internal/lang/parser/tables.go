package parser

import (
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Every key that a table may have (K36). A key that is not listed here is an error.
var (
	topKeys  = []string{"version", "use", "gate", "paths", "lists", "tools", "guard", "session", "handoffs", "judge", "external", "sources", "flow", "servers"}
	gateKeys = []string{"unknown_tool", "unknown_params", "uncovered", "on_schema_violation", "deny_mode", "enforcement", "strict", "denial_limit", "structured_output"}
	pathKeys = []string{"root", "home"}
	toolKeys = []string{
		"source", "command", "also", "summary", "description", "parameters", "policy",
		"unknown_params", "uncovered", "on_schema_violation", "run", "result", "success", "access", "effect",
	}
	accessKeys = []string{"read", "write"}
	policyKeys = []string{"run", "result"}
	ruleKeys   = []string{"arg", "all", "match", "same_text", "when", "mode", "reason", "note", "ignores", "allow_unsafe_prefix", "examples"}
	guardKeys  = []string{"on", "below"} // in addition to those of rules
	memberKeys = []string{"arg", "match"}
	// examples of match come first
	exampleKeys = []string{"match", "no_match"}

	sessionTypes = []string{syntax.SessionRequire, syntax.SessionReadBeforeWrite, syntax.SessionLimit, syntax.SessionFlow}
	sessionKeys  = []string{"type", "name", "enabled", "mode", "reason"}
	// sessionKeysOf are the keys of one type in addition to sessionKeys.
	sessionKeysOf = map[string][]string{
		syntax.SessionRequire: {
			"when", "key", "on_missing_key", "within", "before", "requires", "approvals", "require", "per", "key_type", "invalidated_by", "require_observed", "accept_unknown",
		},
		syntax.SessionReadBeforeWrite: {
			"when", "key", "on_missing_key", "within", "read_tools", "write_tools", "content_hash", "invalidated_by", "require_observed", "accept_unknown",
		},
		syntax.SessionLimit: {
			"when", "key", "on_missing_key", "within", "tools", "max_calls", "max_in_flight", "inflight_ttl", "sum", "max_sum", "scope", "failures", "key_type", "require_observed",
		},
		syntax.SessionFlow: {"when", "after", "before", "unless", "until", "where"},
	}
	sourceKeys          = []string{"tool", "trusted", "asked", "items", "where", "field", "label", "format", "as"}
	userSourceKeys      = []string{"only"}
	sourceConditionKeys = []string{"pointer", "const", "from", "pattern", "label", "as", "relation"}
	sourceFormats       = []string{"json", "yaml", "python", "text"}
	flowKeys            = []string{"keep", "keep_text", "own", "budget"}

	handoffKeys = []string{"from", "to", "mode", "kind", "inherit", "reason", "tool", "to_arg"}
	successKeys = []string{"exit_code", "arg", "pattern"}

	parameterKeys = []string{
		"type", "required", "title", "summary", "description", "aliases", "expands", "items", "properties",
		"additional_properties", "enum", "const", "default", "minimum", "maximum", "exclusive_minimum",
		"exclusive_maximum", "multiple_of", "min_length", "max_length", "min_items", "max_items",
		"min_properties", "max_properties", "unique_items", "pattern", "as",
	}
)

// operational are the tables that other packages read (S61). An untrusted project file must not
// have them (S3).
var operational = []string{"policy", "gateway", "upstream", "api", "approvals", "hook", "mcp", "audit", "store", "telemetry", "limits", "agent", "identity"}
