package operate

import (
	"errors"
	"slices"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/gateway/configure"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// gatewaySettings reads the operational tables of the operator's files; flags win
// over them. files are the further files that were read.
func gatewaySettings(l inputs.Loaded, f *upFlags) (options gateway.Options, files []string, err error) {
	from := noting(secret.Machine(), &files)
	options, mistakes := configure.Read(l.Program.Settings(), from)
	if err := l.Mistakes(mistakes); err != nil {
		return options, files, err
	}
	if f.listen != "" {
		options.Settings.Listen = f.listen
	}
	options.Settings.Hosts = slices.Concat(options.Settings.Hosts, f.hosts)
	for _, api := range registry.VendorNames() {
		if url := f.upstreams[api]; url != nil && *url != "" {
			options.Upstreams = append(withoutAPI(options.Upstreams, api), gateway.Upstream{ID: api, API: api, BaseURL: *url})
		}
	}
	return options, files, nil
}

// together is the mistakes of several parts of the policy as those of one, so that all of
// them are found in one run; of other errors the first.
func together(errs ...error) error {
	var all config.MistakesError
	for _, err := range errs {
		var mistakes config.MistakesError
		switch {
		case errors.As(err, &mistakes):
			all.Set = mistakes.Set
			all.List = append(all.List, mistakes.List...)
		case err != nil:
			return err
		}
	}
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// noting is a reader that notes which files it reads.
func noting(from secret.Reader, files *[]string) secret.Reader {
	note := func(read func(string) ([]byte, error)) func(string) ([]byte, error) {
		return func(path string) ([]byte, error) {
			*files = append(*files, path)
			return read(path)
		}
	}
	from.Read, from.Public = note(from.Read), note(from.Public)
	return from
}

// withoutAPI takes an API away from the configured upstreams, for a flag that
// names another one.
func withoutAPI(upstreams []gateway.Upstream, api string) []gateway.Upstream {
	var kept []gateway.Upstream
	for _, u := range upstreams {
		switch u.API {
		case api:
		case "":
			kept = append(kept, otherAPIs(u, api)...)
		default:
			kept = append(kept, u)
		}
	}
	return kept
}

// otherAPIs returns an upstream of all APIs as one for each API but one. The first keeps its id.
func otherAPIs(u gateway.Upstream, but string) (list []gateway.Upstream) {
	for _, api := range registry.VendorNames() {
		if api == but {
			continue
		}
		one := u
		if one.API = api; len(list) > 0 {
			one.ID += "_" + api
		}
		list = append(list, one)
	}
	return list
}

// settings reads the tables [api] and [approvals] for serve, which listens on the socket only.
func (f *serveFlags) settings(l inputs.Loaded) (tables.API, error) {
	a, err := apiOf(l)
	a.Table.Listen = ""
	if f.socket != "" {
		a.Table.Socket = f.socket
	}
	if err == nil && a.Table.Socket == tables.NoSocket {
		err = cli.Hinted(errors.New("[api] socket is none"), "name a socket with --api-socket PATH")
	}
	return a, err
}

// apiSettings reads the tables [api] and [approvals]; flags override them.
func apiSettings(l inputs.Loaded, f *upFlags) (tables.API, error) {
	a, err := apiOf(l)
	if err != nil {
		return a, err
	}
	if f.apiListen != "" {
		a.Table.Listen = f.apiListen
		if len(a.Tokens) == 0 {
			return a, cli.Hinted(
				errors.New("--api-listen: an address can be reached by every program of the machine, and there is no token"),
				"add [api.tokens.NAME] to your own policy file (see docs/reference/config.md), or use the socket",
			)
		}
	}
	if f.apiSocket != "" {
		a.Table.Socket = f.apiSocket
	}
	return a, nil
}
