// Package schema represents a tool's parameters as a tree: from the tables of a policy file, from
// the JSON Schema of a request or server, or from both. It resolves pointers, matches keys of a
// call to parameters, and validates complete arguments.
//
//	s, notes, err := schema.ParseJSON([]byte(`{"type":"object","properties":{
//		"path":{"type":"string","x-stopgate-type":"path"},
//		"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}}}}}}`))
//	r := s.Reach(jsonstream.Pointer{"edits", "old"})
//	r.Expanded     // "/edits/*/old"
//	r.CrossesArray // true
//	s.Validate(arguments) // nil, or the first violation in declaration order
//
// There are two views. A [Node] is one schema object as written: it validates and is printed. A
// [Location] combines all schemas for one location in the arguments: the union over `$ref`, allOf,
// anyOf and oneOf. An evaluation of streaming arguments walks locations: one lookup per key, no
// allocation.
//
// Validated keywords of JSON Schema: type, enum, const, minimum, maximum, exclusiveMinimum,
// exclusiveMaximum (also as the flags of draft 4), multipleOf, minLength, maxLength, pattern,
// minItems, maxItems, uniqueItems, items (also as a list, with additionalItems), prefixItems,
// contains, minContains, maxContains, minProperties, maxProperties, properties, required,
// additionalProperties, patternProperties, propertyNames, dependentRequired, dependentSchemas,
// dependencies, allOf, anyOf, oneOf, not, if, then, else, `$ref` within the text, and nullable of
// OpenAPI. Not validated, and noted: unevaluatedProperties, unevaluatedItems, `$dynamicRef`,
// `$recursiveRef`, references to anchors and to other documents, patterns that [regular.Compile]
// rejects, types that do not exist. The formats path, file-path, directory-path, uri, url, iri and
// command annotate, as x-stopgate-type does; formats reject nothing. x-stopgate-expands declares
// that the tool expands wildcards (C15).
//
// Properties:
//
//   - No part of a schema is ignored silently. A keyword that is not validated, or that hides
//     structure, is a [Note], and the location below it is marked unknown (K0g, K23).
//   - Numbers are compared exactly (A19, A20, A21). The first violation depends on the schema and
//     the value only, not on the order of the keys (K14).
//   - Schemas may be untrusted: size, nesting, number of locations and the work of a validation
//     are limited, and each limit rejects. References that never reach a value are errors.
//   - A [Schema] is immutable and safe for concurrent use. The nil *Schema is the unknown schema:
//     every pointer reaches an unknown location, every key is data.
package schema
