// Package registry is the table of the provider APIs. Everything that depends on an API takes it from
// here: the gateway its routes and codecs, event policies the texts, the replay model its scripts,
// telemetry its transcripts.
//
//	api := registry.Named("anthropic")
//	req, err := api.Request(body)
//
// A new API is a folder next to internal/provider/anthropic and a row of this table.
package registry

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// API is one provider API.
type API struct {
	provider.Dialect
	Texts provider.Texts
}

// apis are the known APIs, in the order in which messages list them.
var apis = []*API{
	{Dialect: openaichat.Dialect{}, Texts: openaichat.Texts},
	{Dialect: openairesponses.Dialect{}, Texts: openairesponses.Texts},
	{Dialect: anthropic.Dialect{}, Texts: anthropic.Texts},
}

// All returns every API, in the order in which messages list them.
func All() []*API { return apis }

// Named returns the API with the name of its dialect, or nil.
func Named(dialect string) *API {
	for _, api := range apis {
		if api.Name() == dialect {
			return api
		}
	}
	return nil
}
