package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/cidr"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

const numeric = schema.Number | schema.Integer

var (
	onURL     = []schema.Annotation{schema.URL}
	onCommand = []schema.Annotation{schema.Command}
	onPath    = []schema.Annotation{schema.Path, schema.Command, schema.Patch}
	asText    = []schema.Annotation{schema.None}
	asAny     = []schema.Annotation{schema.None, schema.Path}
)

// kinds is the table of all kinds of conditions, in the order of the reference.
var kinds = []condition.Definition{
	{Kind: condition.Const, Types: condition.AnyType &^ schema.Array, Undeclared: asAny, Listed: true, Verb: "is", Build: buildEqual,
		Doc: "The value equals this one. Numbers compare exactly."},
	{Kind: condition.Enum, Types: condition.AnyType &^ schema.Array, Undeclared: asAny, Values: condition.Many, Listed: true, Verb: "is", Build: buildEqual,
		Doc: "The value is one of these."},
	{Kind: condition.Pattern, Types: schema.String, Undeclared: asAny, Listed: true, Build: buildText,
		Doc: "The value contains a match of this ECMA-262 pattern. In a rule that lets calls run, anchor it: ^(?:...)$"},
	{Kind: condition.Prefix, Types: schema.String, Undeclared: asAny, Listed: true, Verb: "begins with", Build: buildText,
		Doc: "A path at or below this one, a command that begins with these words, a string that begins with this text."},
	{Kind: condition.Suffix, Types: schema.String, Undeclared: asAny, Listed: true, Verb: "ends with", Build: buildText,
		Doc: "The value ends with this text."},
	{Kind: condition.Glob, Types: schema.String, Undeclared: asAny, Listed: true, Verb: "matches", Build: buildText,
		Doc: "The value matches: * ? [a-z] [!a-z] {a,b} \\x, and ** as a whole component of a path; on a path also x!(a|*b), which leaves names out."},
	{Kind: condition.Minimum, Types: numeric, Undeclared: asAny, Build: buildRange,
		Doc: "The number is at least this one."},
	{Kind: condition.Maximum, Types: numeric, Undeclared: asAny, Build: buildRange,
		Doc: "The number is at most this one."},
	{Kind: condition.ExclusiveMinimum, Types: numeric, Undeclared: asAny, Build: buildRange,
		Doc: "The number is greater."},
	{Kind: condition.ExclusiveMaximum, Types: numeric, Undeclared: asAny, Build: buildRange,
		Doc: "The number is less."},
	{Kind: condition.Present, Types: condition.AnyType, Undeclared: asAny, Build: buildPresent,
		Doc: "The argument is there (true), absent (false), or there and not null (\"value\")."},
	{Kind: condition.MinItems, Types: schema.Array, Undeclared: asAny, Build: buildItems,
		Doc: "The array has at least that many elements."},
	{Kind: condition.MaxItems, Types: schema.Array, Undeclared: asAny, Build: buildItems,
		Doc: "The array has at most that many elements."},
	{Kind: condition.MaxLength, Types: schema.String, Undeclared: asText, Build: buildLength,
		Doc: "The string has at most that many characters."},
	{Kind: condition.Host, Types: schema.String, Reads: onURL, Misfit: notURL, Remedy: asURL, Undeclared: onURL, Listed: true, Verb: "has the host", Build: buildText,
		Doc: "The URL has this host; *.example.com are those below it."},
	{Kind: condition.Scheme, Types: schema.String, Reads: onURL, Misfit: notURL, Remedy: asURL, Undeclared: onURL, Listed: true, Verb: "has the scheme", Build: buildText,
		Doc: "The URL has this scheme."},
	cidr.Kind,
	{Kind: condition.Usage, Types: schema.String, Undeclared: asAny, Reads: onCommand, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "is used as", Build: buildText,
		Doc: "The command has only the words and options that this usage mentions, as in a manual page."},
	{Kind: condition.Reads, Types: schema.String, Undeclared: asAny, Reads: onCommand, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "reads only", Build: buildText,
		Doc: "The paths that the command reads match this glob."},
	{Kind: condition.Writes, Types: schema.String, Undeclared: asAny, Reads: onCommand, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "writes only", Build: buildText,
		Doc: "The paths that the command writes match this glob."},
	{Kind: condition.Outside, Types: schema.String, Undeclared: asAny, Reads: onPath, Misfit: "looks at paths, but the parameter is none", Remedy: `declare it with type = "path"`, Listed: true, Excludes: true, Build: buildText,
		Doc: "A path lies in none of the places that this glob names. Only in rules that restrict."},
}

const (
	notURL     = "looks at URLs, but the parameter is a plain string"
	asURL      = `declare it with type = "url"`
	notCommand = "looks at command lines, but the parameter is none"
	asCommand  = `declare it with type = "command"`
)

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
	return &condition.Definition{Kind: k, Undeclared: asAny}
}

// ParseKind returns the kind of a key of a rule.
func ParseKind(key string) (condition.Kind, bool) {
	d := Define(condition.Kind(key))
	return d.Kind, d.Types != 0
}
