package service

import (
	"context"
	"log/slog"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/policy"
)

// Externals makes the external policies that policy files name. Failures are logged; answered is
// called with every answer, and may be nil.
func Externals(log *slog.Logger, answered func(stopgate.ExternalAnswer)) *external.Factory {
	o := external.Options{Answered: answered}
	if log != nil {
		o.Failed = func(name, hook string, err error) {
			log.Warn("external policy", "policy", name, "ask", hook, "error", err)
		}
	}
	return external.New(o)
}

// EventPolicies returns the event policies of the external policies of a program, in the order of
// the files.
func EventPolicies(f *external.Factory, p *policy.Program, note func(context.Context, stopgate.Record)) (list []events.Policy, err error) {
	for _, t := range p.ExternalTables() {
		made, err := f.Events(t, note)
		if err != nil {
			return nil, err
		}
		if made != nil {
			list = append(list, made)
		}
	}
	return list, nil
}

// External returns a function that makes the external policies of hooks, where nothing is logged.
// Its policies share their connections.
func External() func() gate.Option {
	f := external.New(external.Options{})
	return func() gate.Option { return gate.WithExternals(f.Open) }
}
