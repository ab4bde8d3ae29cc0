// Package schema holds a tool's parameters as a tree: from the tables of a policy
// file, from the JSON Schema of a request or server, or from both. It says what a
// pointer reaches, which parameter a key of a call is, and whether complete
// arguments fit.
//
//	s, notes, err := schema.ParseJSON([]byte(`{"type":"object","properties":{
//		"path":{"type":"string","x-stopgate-type":"path"},
//		"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}}}}}}`))
//	r := s.Reach(jsonstream.Pointer{"edits", "old"})
//	r.Expanded     // "/edits/*/old"
//	r.CrossesArray // true
//	s.Validate(arguments) // nil, or the first violation in declaration order
//
// There are two views. A [Node] is one schema object as it was written: it
// validates and is printed. A [Place] is what all schemas together say about one
// place in the arguments: the union over `$ref`, allOf, anyOf and oneOf. A reader
// of streaming arguments walks places: one lookup per key, no allocation.
//
// Validated are, of JSON Schema: type, enum, const, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum (also as the flags of draft 4), multipleOf,
// minLength, maxLength, pattern, minItems, maxItems, uniqueItems, items (also as a
// list, with additionalItems), prefixItems, contains, minContains, maxContains,
// minProperties, maxProperties, properties, required, additionalProperties,
// patternProperties, propertyNames, dependentRequired, dependentSchemas,
// dependencies, allOf, anyOf, oneOf, not, if, then, else, `$ref` within the text,
// and nullable of OpenAPI. Not validated, and noted: unevaluatedProperties,
// unevaluatedItems, `$dynamicRef`, `$recursiveRef`, references to anchors and to
// other documents, patterns that [regular.Compile] refuses, types that do not
// exist. The formats path, file-path, directory-path, uri, url, iri and command
// annotate, as x-stopgate-type does; formats refuse nothing. x-stopgate-expands says
// that the tool expands wildcards (C15).
//
// What it promises:
//
//   - Nothing that the schema says is ignored in silence. A keyword that is not
//     validated, or that hides structure, is a [Note], and the place below it is
//     marked unknown (K0g, K23).
//   - Numbers are compared exactly (A19, A20, A21). The first violation depends on
//     the schema and the value only, not on the order of the keys (K14).
//   - Schemas come from strangers: size, nesting, number of places and the work of
//     a validation are bounded, and each bound refuses. References that never reach
//     a value are errors.
//   - A [Schema] is immutable and safe for concurrent use. The nil *Schema is the
//     unknown schema: every pointer reaches something unknown, every key is data.
package schema
