package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/cidr"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/number"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

var (
	onPath = []schema.Annotation{schema.Path, schema.Command, schema.Patch}
	asText = []schema.Annotation{schema.None}
)

// kinds is the table of all kinds of conditions, in the order of the reference.
var kinds = []condition.Definition{
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
	{Kind: condition.MaxLength, Types: schema.String, Undeclared: asText, Build: buildLength,
		Doc: "The string has at most that many characters."},
	weburl.Host,
	weburl.Scheme,
	cidr.Kind,
	commandline.Usage,
	commandline.Reads,
	commandline.Writes,
	{Kind: condition.Outside, Types: schema.String, Undeclared: condition.AnyReading, Reads: onPath, Misfit: "looks at paths, but the parameter is none", Remedy: `declare it with type = "path"`, Listed: true, Excludes: true, Build: buildText,
		Doc: "A path lies in none of the places that this glob names. Only in rules that restrict."},
}

// Kinds returns the table of kinds, which must not be changed.
func Kinds() []condition.Definition { return kinds }

// Define returns the definition of a kind. The zero Kind, and one that the table does not have, has
// a definition without types.
func Define(k condition.Kind) *condition.Definition {
	for i := range kinds {
		if kinds[i].Kind == k {
			return &kinds[i]
		}
	}
	return &condition.Definition{Kind: k, Undeclared: condition.AnyReading}
}

// ParseKind returns the kind of a key of a rule.
func ParseKind(key string) (condition.Kind, bool) {
	d := Define(condition.Kind(key))
	return d.Kind, d.Types != 0
}
