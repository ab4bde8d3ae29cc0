package configure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// upstreamTable is one table [upstream.ID].
type upstreamTable struct {
	BaseURL         string        `toml:"base_url,required"`
	API             api           `toml:"api"`
	Models          []string      `toml:"models"`
	KeyEnv          string        `toml:"key_env"`
	KeyFile         string        `toml:"key_file"`
	CAFile          string        `toml:"ca_file"`
	ObjectArguments bool          `toml:"object_arguments"`
	Connections     int           `toml:"connections"`
	Connect         time.Duration `toml:"connect"`
	Answer          time.Duration `toml:"answer"`
	AnswerWhole     time.Duration `toml:"answer_whole"`
	IdleFirst       time.Duration `toml:"idle_first"`
	Idle            time.Duration `toml:"idle"`
}

type api string

// UnmarshalText parses the name of an API.
func (a *api) UnmarshalText(text []byte) error {
	*a = api(text)
	return word(text, registry.VendorNames()...)
}

func (c *configurer) upstreams(t *tomltree.Value) {
	if t == nil {
		return
	}
	if t.Kind != tomltree.Table {
		c.Report(t, "upstream must be a table for each provider: [upstream.NAME]")
		return
	}
	taken := map[string]string{}
	for _, e := range t.Entries {
		if e.Value.Kind != tomltree.Table {
			c.Report(e.Value, "upstream.%s must be a table", e.Key)
			continue
		}
		var table upstreamTable
		found := tomltree.Decode(e.Value, &table)
		c.Mistakes = append(c.Mistakes, found...)
		if found.HasErrors() {
			continue
		}
		u := c.upstream(e, &table)
		for _, a := range served(u.API) {
			c.servesAlone(taken, e.Value, &u, a)
		}
		c.o.Upstreams = append(c.o.Upstreams, u)
	}
}

// served returns the APIs of a setting.
func served(setting string) []string {
	if setting == "" {
		return registry.VendorNames()
	}
	return []string{setting}
}

// upstream reads one table.
func (c *configurer) upstream(e *tomltree.Entry, t *upstreamTable) gateway.Upstream {
	u := gateway.Upstream{
		ID: e.Key, API: string(t.API), Models: t.Models, BaseURL: t.BaseURL, ObjectArguments: t.ObjectArguments, Connections: t.Connections,
		Timeouts: gateway.Timeouts{Connect: t.Connect, Answer: t.Answer, AnswerWhole: t.AnswerWhole, IdleFirst: t.IdleFirst, Idle: t.Idle},
	}
	for _, key := range []string{"connections", "connect", "answer", "answer_whole", "idle_first", "idle"} {
		if n := e.Value.Get(key); n != nil && zero(n.Value) {
			c.Report(n.Value, "%s must be above zero", key)
		}
	}
	if key := either(e.Value, "key_env", "key_file"); key != nil {
		text, err := c.from.Text(t.KeyEnv, t.KeyFile)
		if err != nil {
			c.Report(key.Value, "%v", err)
		}
		if u.Key = text; c.o.Token == "" && len(c.o.Tokens) == 0 {
			c.Report(key.Value, "with a key in the gate every local program could spend it: set [gateway] token_env or [gateway.tokens.NAME] too")
		}
	}
	if ca := e.Value.Get("ca_file"); ca != nil {
		text, err := c.from.Public(t.CAFile)
		if err != nil {
			c.Report(ca.Value, "%v", err)
		}
		u.Authorities = string(text)
	}
	if m := e.Value.Get("models"); m != nil && (len(t.Models) == 0 || slices.Contains(t.Models, "")) {
		c.Report(m.Value, "models must name models; leave the key out for all that no other upstream names")
	}
	if !stopgate.ValidToolName(stopgate.ToolName(u.ID)) {
		c.Report(e.Value, "the name %q: want 1 to 128 letters, digits and . _ : -", u.ID)
	}
	if err := u.Check(); err != nil {
		c.Report(e.Value.Get("base_url").Value, "%s", strings.TrimPrefix(err.Error(), "gateway: "))
	}
	return u
}

// servesAlone reports upstreams that serve the same models of one API.
func (c *configurer) servesAlone(taken map[string]string, at *tomltree.Value, u *gateway.Upstream, api string) {
	models := u.Models
	if len(models) == 0 {
		models = []string{""}
	}
	for _, m := range models {
		what := api + " " + m
		if other, ok := taken[what]; ok {
			message := fmt.Sprintf("upstreams %s and %s both serve the API %s", other, u.ID, api)
			if m != "" {
				message += " for the models " + m
			}
			c.Report(at, "%s", message)
		}
		taken[what] = u.ID
	}
}

// either returns the first of some keys that exists in a table.
func either(t *tomltree.Value, keys ...string) *tomltree.Entry {
	for _, key := range keys {
		if e := t.Get(key); e != nil {
			return e
		}
	}
	return nil
}
