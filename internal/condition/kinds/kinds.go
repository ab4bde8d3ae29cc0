// Package kinds is the table of all conditions of the policy language. Wiring passes it to the
// parser; packages that evaluate policies do not import it.
//
//	file, mistakes := parser.Parse(kinds.Table(), "stopgate.toml", text)
//
// A new kind is a package below internal/condition, and its row here.
//
// # Matchers by type
//
//	const, enum          every type; objects by their canonical text
//	pattern              strings, paths, commands, URLs: ECMA-262, see package regular
//	prefix               string: text; path and URL: complete components; command: words
//	suffix, glob         strings, paths, commands
//	max_length           every string, in code points
//	host, scheme         URLs
//	cidr                 strings and URLs, see package cidr
//	minimum, maximum, exclusive_minimum, exclusive_maximum      numbers
//	min_items, max_items arrays
//	present              everything; evaluated by package eval (K5)
//	from, not_from, carries      everything but arrays, whose elements they evaluate; see package origin
//
// # Globs
//
// A glob matches the complete value (K18); package glob describes the language. In a path none of
// its elements matches "/", except an alternative in braces that spells it, and "**" as a complete
// component matches any number of components, including none.
//
// In a path a restrictive glob also matches everything below a matched directory, and one that
// begins with "**" also matches outside of the root. "~/" at the start of a path literal is the
// home directory.
package kinds

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/cidr"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/number"
	"github.com/stopgate/stopgate/internal/condition/origin"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/schema"
)

var (
	onPath = []schema.Annotation{schema.Path, schema.Command, schema.Patch}
	asText = []schema.Annotation{schema.None}
)

// Table returns the table of all kinds of conditions.
func Table() *condition.Table { return &table }

var table = condition.Table{
	Kinds:       rows,
	Line:        func(v *condition.Value) condition.Line { return commandline.Of(v) },
	CommandKeys: commandline.KeysOf,
	AppendWords: commandline.AppendWords,
	IsPatch:     patch.Readable,
	Protect:     func(env condition.Env, files ...string) condition.Protected { return protected.New(env, files...) },
}

// rows are the kinds in the order of the reference.
var rows = []condition.Definition{
	{Kind: condition.Const, Types: condition.AnyType &^ schema.Array, Undeclared: condition.AnyReading, Listed: true, Verb: "is", Build: buildEqual,
		Doc: "The value equals this one. Numbers compare exactly."},
	{Kind: condition.Enum, Types: condition.AnyType &^ schema.Array, Undeclared: condition.AnyReading, Values: condition.Many, Listed: true, Verb: "is", Build: buildEqual,
		Doc: "The value is one of these."},
	{Kind: condition.Pattern, Types: schema.String, Undeclared: condition.AnyReading, Listed: true, Build: buildText,
		Doc: "The value contains a match of this ECMA-262 pattern. In a rule that lets calls run, anchor it: ^(?:...)$"},
	{Kind: condition.Prefix, Types: schema.String, Undeclared: condition.AnyReading, Listed: true, Verb: "begins with", Build: buildText,
		Doc: "A path at or below this one, a command that begins with these words, a string that begins with this text."},
	{Kind: condition.Suffix, Types: schema.String, Undeclared: condition.AnyReading, Listed: true, Verb: "ends with", Build: buildText,
		Doc: "The value ends with this text."},
	{Kind: condition.Glob, Types: schema.String, Undeclared: condition.AnyReading, Listed: true, Verb: "matches", Build: buildText,
		Doc: "The value matches: * ? [a-z] [!a-z] {a,b} \\x, and ** as a whole component of a path; on a path also x!(a|*b), which leaves names out."},
	number.Minimum,
	number.Maximum,
	number.ExclusiveMinimum,
	number.ExclusiveMaximum,
	{Kind: condition.Present, Types: condition.AnyType, Undeclared: condition.AnyReading, Build: buildPresent,
		Doc: "The argument is there (true), absent (false), or there and not null (\"value\")."},
	number.MinItems,
	number.MaxItems,
	{Kind: condition.MaxLength, Types: schema.String, Counts: true, Undeclared: asText, Build: buildLength,
		Doc: "The string has at most that many characters."},
	weburl.Host,
	weburl.Scheme,
	cidr.Kind,
	commandline.Usage,
	commandline.Reads,
	commandline.Writes,
	{Kind: condition.Outside, Types: schema.String, Undeclared: condition.AnyReading, Reads: onPath, Misfit: "looks at paths, but the parameter is none", Remedy: `declare it with type = "path"`, Listed: true, Excludes: true, Build: buildText,
		Doc: "A path lies in none of the places that this glob names. Only in rules that restrict."},
	origin.From,
	origin.NotFrom,
	origin.Carries,
}
