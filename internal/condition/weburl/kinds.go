package weburl

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

const (
	notURL = "looks at URLs, but the parameter is a plain string"
	asURL  = `declare it with type = "url"`
)

var addresses = []schema.Annotation{schema.URL}

// The rows of the table of kinds.
var (
	// Host is the row of host.
	Host = condition.Definition{Kind: condition.Host, Samples: hostSamples, Types: schema.String, Reads: addresses, Misfit: notURL, Remedy: asURL, Undeclared: addresses, Listed: true, Verb: "has the host", Build: build,
		Doc: "The URL has this host; *.example.com are those below it."}
	// Scheme is the row of scheme.
	Scheme = condition.Definition{Kind: condition.Scheme, Samples: schemeSamples, Types: schema.String, Reads: addresses, Misfit: notURL, Remedy: asURL, Undeclared: addresses, Listed: true, Verb: "has the scheme", Build: build,
		Doc: "The URL has this scheme."}
)

func build(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	tests.Text, err = Compile(r.Spec, r.Restrictive)
	return tests, err
}

func hostSamples(literal string) []string {
	host := strings.TrimSuffix(strings.Replace(literal, "*.", "x.", 1), ":*")
	return []string{"https://" + host, "http://" + host + "/x"}
}

func schemeSamples(literal string) []string {
	return []string{literal + "://example.com/", literal + ":x"}
}
