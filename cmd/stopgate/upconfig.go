package main

import (
	"os"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// upSettings are the gateway's options and the audit file.
type upSettings struct {
	options gateway.Options
	audit   string
}

// auditTable is the table [audit].
type auditTable struct {
	File string `toml:"file"`
}

// gatewaySettings reads the operational tables of the operator's files; flags win
// over them.
func gatewaySettings(l loaded, f *upFlags) (upSettings, error) {
	settings := l.program.Settings()
	options, mistakes := gateway.Configure(settings, os.Getenv)
	var audit auditTable
	mistakes = append(mistakes, tomltree.Decode(settings.Tables["audit"], &audit)...)
	if mistakes.HasErrors() {
		return upSettings{}, mistakesError{mistakes, l.set}
	}
	if f.listen != "" {
		options.Settings.Listen = f.listen
	}
	for _, flag := range []struct{ api, url string }{{"openai", f.openai}, {"anthropic", f.anthropic}} {
		if flag.url == "" {
			continue
		}
		options.Upstreams = append(withoutAPI(options.Upstreams, flag.api), gateway.Upstream{ID: flag.api, API: flag.api, BaseURL: flag.url})
	}
	return upSettings{options: options, audit: audit.File}, nil
}

// withoutAPI takes an API away from the configured upstreams, for a flag that
// names another one.
func withoutAPI(upstreams []gateway.Upstream, api string) []gateway.Upstream {
	other := map[string]string{"openai": "anthropic", "anthropic": "openai"}[api]
	var kept []gateway.Upstream
	for _, u := range upstreams {
		switch u.API {
		case api:
			continue
		case "":
			u.API = other
		}
		kept = append(kept, u)
	}
	return kept
}
