// Command events is a gateway with event policies of its own, which are written in Go and
// cannot be expressed in a policy file.
//
//	go run ./examples/events stopgate.toml
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/policy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, files []string) error {
	if len(files) != 1 {
		return fmt.Errorf("name one policy file")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	gw, err := open(files[0], text, signature{"\n\n-- written by a model"}, gatekeeper{map[string]bool{"some-model": true}})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:8788")
	if err != nil {
		return err
	}
	return gw.Serve(ctx, ln)
}

// open makes a gateway from a policy and event policies.
func open(name string, text []byte, policies ...events.Policy) (*gateway.Gateway, error) {
	program, found := policy.Compile([]policy.Source{{Name: name, Text: text, Trusted: true}}, policy.Options{})
	if program == nil {
		return nil, found.Err()
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		Gate: g, Settings: gateway.DefaultSettings(), Policies: policies,
		Events: func(_ context.Context, e events.Event) {
			slog.Info(e.Summary, "type", e.Type, "policy", e.Policy, "exchange", e.Exchange)
		},
	})
}
