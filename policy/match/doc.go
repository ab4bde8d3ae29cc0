// Package match holds the matchers of the policy language: one condition on one
// value, incremental where the value is a string, two-sided where the value is a
// path (THREATS 1.3, C).
package match
