package policy

import "slices"

// Keys lists every key of the language.
func Keys() []string {
	return slices.Concat(topKeys, operational, gateKeys, pathKeys, toolKeys, policyKeys, ruleKeys, memberKeys, whenKeys, exampleKeys, parameterKeys, matcherKeys)
}
