package commandline

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

const (
	notCommand = "looks at command lines, but the parameter is none"
	asCommand  = `declare it with type = "command"`
)

var commands = []schema.Annotation{schema.Command}

// The rows of the table of kinds.
var (
	// Usage is the row of usage.
	Usage = condition.Definition{Kind: condition.Usage, Types: schema.String, Undeclared: condition.AnyReading, Reads: commands, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "is used as", Build: build,
		Doc: "The command has only the words and options that this usage mentions, as in a manual page."}
	// Reads is the row of reads.
	Reads = condition.Definition{Kind: condition.Reads, Types: schema.String, Undeclared: condition.AnyReading, Reads: commands, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "reads only", Build: build,
		Doc: "The paths that the command reads match this glob."}
	// Writes is the row of writes.
	Writes = condition.Definition{Kind: condition.Writes, Types: schema.String, Undeclared: condition.AnyReading, Reads: commands, Misfit: notCommand, Remedy: asCommand, Listed: true, Verb: "writes only", Build: build,
		Doc: "The paths that the command writes match this glob."}
)

func build(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	tests.Text, err = Compile(r.Spec, r.Target, r.Restrictive, r.Env)
	return tests, err
}
