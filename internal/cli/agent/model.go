package agent

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/replay"
)

//go:embed tour.scenario
var tourScript []byte

// model is whom the agent asks.
type model struct {
	endpoint *provider.Endpoint
	script   *scriptCounter // nil: a real model
}

// scriptCounter counts the bytes that a scripted model did not have to write.
type scriptCounter struct {
	next         http.RoundTripper
	begun, ended atomic.Int64 // answers
	unwritten    atomic.Int64 // bytes
}

// RoundTrip implements http.RoundTripper.
func (s *scriptCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	s.begun.Add(1)
	return s.next.RoundTrip(r)
}

// saved returns the number of bytes that were not written. The count of an answer that was
// stopped is complete a moment later.
func (s *scriptCounter) saved() int64 {
	for range 50 {
		if s.ended.Load() >= s.begun.Load() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return s.unwritten.Load()
}

// scriptedPrefix is how names of scripted models begin.
const scriptedPrefix = "stopgate-"

// keyOf returns the default name of the variable with the key of an API.
func keyOf(api provider.API) string {
	if api == provider.Messages {
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// urlOf returns the public address of the vendor of an API.
func urlOf(api provider.API) string {
	if a := registry.Named(string(api)); a != nil {
		return a.Vendor.BaseURL
	}
	return registry.Vendors()[0].BaseURL
}

// modelOf returns the model of the command line, else of the table [agent], else a scripted one.
func modelOf(f *agentFlags, t tables.Agent) (model, error) {
	first := func(words ...string) string {
		for _, w := range words {
			if w != "" {
				return w
			}
		}
		return ""
	}
	name, api, url := first(f.model, t.Model), first(f.api, t.API), first(f.baseURL, t.BaseURL)
	if api != "" && !slices.Contains(provider.APIs(), api) {
		return model{}, cli.Usagef("unknown API %q: want %s", api, diag.OneOf(provider.APIs()))
	}
	if url != "" && name == "" {
		return model{}, cli.Usagef("name the model with --model NAME")
	}
	if url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return model{}, cli.Usagef("base URL %q: want http://HOST or https://HOST, with the path that the provider's own clients take", url)
	}
	if api == "" {
		api = string(provider.Chat)
		if strings.HasPrefix(name, "claude") {
			api = string(provider.Messages)
		}
	}
	e := &provider.Endpoint{API: provider.API(api), Model: name, URL: url}
	if name == "" || strings.HasPrefix(name, scriptedPrefix) && url == "" {
		return scriptedModel(e, f)
	}
	variable := first(f.keyEnv, t.KeyEnv, keyOf(e.API))
	e.Key = os.Getenv(variable)
	if e.URL == "" {
		if e.URL = urlOf(e.API); e.Key == "" {
			return model{}, cli.Hinted(fmt.Errorf("the model %s needs a key, and %s is empty", name, variable),
				"export the key, or name another variable with --key-env; without --model a scripted tour runs")
		}
	}
	return model{endpoint: e}, nil
}

// scriptedModel plays the tour, or the scenario of that name, or recordings.
func scriptedModel(e *provider.Endpoint, f *agentFlags) (model, error) {
	tour, err := replay.ParseScenario("tour.scenario", tourScript)
	if err != nil {
		return model{}, err
	}
	scenarios, err := replay.Scenarios()
	if err != nil {
		return model{}, err
	}
	scenarios = append([]*replay.Scenario{tour}, scenarios...)
	for _, path := range f.scenarios {
		text, err := os.ReadFile(path)
		if err != nil {
			return model{}, fmt.Errorf("read the script: %w", err)
		}
		s, err := replay.ParseScenario(path, text)
		if err != nil {
			return model{}, err
		}
		scenarios = append([]*replay.Scenario{s}, scenarios...)
	}
	m := model{endpoint: e, script: new(scriptCounter)}
	o := replay.Options{Scenarios: scenarios, TokensPerSecond: f.pace, Ended: func(r replay.Report) {
		m.script.unwritten.Add(r.Total - r.Generated)
		m.script.ended.Add(1)
	}}
	if e.Model == "" {
		e.Model = scenarios[0].Model
	}
	up, err := replay.New(o)
	if err != nil {
		return model{}, err
	}
	m.script.next = replay.Transport(up)
	e.Transport, e.URL = m.script, "http://replay/v1"
	if e.API == provider.Messages {
		e.URL = "http://replay"
	}
	return m, nil
}
