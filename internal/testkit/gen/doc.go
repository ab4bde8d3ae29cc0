// Package gen makes random policies together with documents that come near their
// rules, for tests that compare evaluators.
//
// Everything comes in two forms from one draw: as TOML and JSON text for the real
// packages, and as the structures of package naive. Rules fit the schema on purpose,
// and values come from small vocabularies that rules and documents share: otherwise
// almost every document would meet no rule at all.
//
// DrawFlow makes policies about the origin of values, sessions with texts, and calls whose arguments
// come from the texts, in disguise or not.
package gen
