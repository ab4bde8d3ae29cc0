package parser

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Keys returns every key of the language.
func Keys(conditions *condition.Table) []string {
	return slices.Concat(topKeys, operational, gateKeys, pathKeys, toolKeys, accessKeys, policyKeys, guardKeys, ruleKeys, memberKeys, syntax.WhenKeys, exampleKeys, parameterKeys, sourceKeys, userSourceKeys, sourceConditionKeys, flowKeys, conditions.Keys(), conditions.OptionKeys())
}

// KeysByTable returns the keys of the tables that this package reads key by key, by the path of the
// table in the JSON Schema of policy files.
func KeysByTable(conditions *condition.Table) map[string][]string {
	members := slices.Concat(memberKeys, conditions.Keys(), conditions.OptionKeys())
	rule := slices.Concat(ruleKeys, conditions.Keys(), conditions.OptionKeys())
	data := slices.DeleteFunc(conditions.Keys(), func(key string) bool { d, _ := conditions.ParseKey(key); return d.Sources })
	return map[string][]string{
		"":                                   slices.Concat(topKeys, operational, []string{"conversation"}),
		"properties/gate":                    gateKeys,
		"properties/paths":                   pathKeys,
		"$defs/tool":                         toolKeys,
		"$defs/access":                       accessKeys,
		"$defs/policy":                       policyKeys,
		"$defs/rule":                         rule,
		"$defs/resultRule":                   rule,
		"$defs/guard":                        slices.Concat(guardKeys, rule),
		"$defs/member":                       members,
		"$defs/unless":                       members,
		"$defs/when":                         slices.Concat(syntax.WhenKeys, data),
		"$defs/examples":                     exampleKeys,
		"$defs/parameter":                    parameterKeys,
		"$defs/session":                      SessionKeys(),
		"$defs/handoff":                      handoffKeys,
		"$defs/source":                       sourceKeys,
		"$defs/sourceCondition":              sourceConditionKeys,
		"properties/flow":                    flowKeys,
		"properties/sources/properties/user": userSourceKeys,
	}
}

// SessionKeys returns the keys of [[session]], of all types.
func SessionKeys() []string {
	keys := slices.Clone(sessionKeys)
	for _, more := range sessionKeysOf {
		keys = append(keys, more...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// HandoffKeys returns the keys of [[handoffs]].
func HandoffKeys() []string { return handoffKeys }
