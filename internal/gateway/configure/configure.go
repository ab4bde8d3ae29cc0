// Package configure reads the settings of the gateway from policy files.
//
//	options, mistakes := configure.Read(program.Settings(), secret.Machine())
package configure

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// Read reads the tables [gateway], [upstream.ID] and [limits] of the
// operator's policy files into Options, over the defaults:
//
//	[gateway]
//	listen = "127.0.0.1:8788"       # other machines only with a token
//	hosts = ["gate.example.com"]    # further names of the gateway
//	origins = []                    # browser origins that may call
//	token_env = "STOPGATE_TOKEN"    # variable that holds the gate token
//	tls_cert = "/etc/stopgate/tls.crt"  # with tls_key: HTTPS
//	on_deny = "text"                # or "error" or "answer"; the default follows [gate] deny_mode
//	answer_rounds = 2               # how often a model is answered in one response
//	on_block = "call"               # or "stop": a denied call ends the others
//	after_deny = "cancel"           # or "drain"
//	cancel_after = 4096             # bytes of one denied call after its decision
//	passthrough = ["GET /v1/files/{id}"]
//	server_tools = ["web_search_*"]
//	pass_items = []                 # unknown item types of Responses that pass
//	cache_key_is_session = false    # prompt_cache_key names a session
//	share_subagents = false         # sub-agents share the facts of their session
//
//	[gateway.tokens.NAME]           # one for each client
//	sha256 = "9f86..."              # or env, or file
//
//	[upstream.NAME]
//	base_url = "https://llm.example.com/v1"
//	api = "openai"                  # or "anthropic", "gemini"; all if left out
//	models = ["llama-*"]            # all that no other upstream names if left out
//	key_env = "LLM_KEY"             # or key_file; sent instead of the client's credential
//	object_arguments = false
//	idle = "2m"                     # and other waiting times of [limits]
//
//	[limits]                        # see gateway.Limits and gateway.Timeouts
//	held_bytes = 33554432
//	idle = "60s"
//
// Every mistake is reported with its place. from finds tokens and keys.
func Read(s policy.Settings, from secret.Reader) (gateway.Options, diag.List) {
	c := &configurer{o: gateway.Options{Settings: gateway.DefaultSettings()}, from: from}
	if s.Gate.DenyMode == "throw" { // an explicit value sets both (K33)
		c.o.Settings.OnDeny = gateway.DenyError
	}
	c.gateway(s.Tables["gateway"])
	c.limits(s.Tables["limits"])
	c.upstreams(s.Tables["upstream"])
	return c.o, c.Mistakes
}

type configurer struct {
	tomltree.Settings
	o    gateway.Options
	from secret.Reader
}

// gatewayTable is the table [gateway].
type gatewayTable struct {
	Listen  string   `toml:"listen"`
	Hosts   []string `toml:"hosts"`
	Origins []string `toml:"origins"`
	access
	OnDeny      *gateway.OnDeny    `toml:"on_deny"`
	Rounds      *int               `toml:"answer_rounds"`
	OnBlock     gateway.OnBlock    `toml:"on_block"`
	AfterDeny   *gateway.AfterDeny `toml:"after_deny"`
	CancelAfter *int64             `toml:"cancel_after"`
	Passthrough []string           `toml:"passthrough"`
	ServerTools []string           `toml:"server_tools"`
	PassItems   []string           `toml:"pass_items"`
	CacheKey    bool               `toml:"cache_key_is_session"`
	Subagents   bool               `toml:"share_subagents"`

	Policies []policyTable `toml:"policies"`
}

// maxRounds limits answer_rounds: every round is a request that costs tokens.
const maxRounds = 16

func word(text []byte, words ...string) error {
	for _, w := range words {
		if string(text) == w {
			return nil
		}
	}
	return fmt.Errorf("want %s, not %q", strings.Join(words, " or "), text)
}

func (c *configurer) gateway(t *tomltree.Value) {
	table := gatewayTable{Listen: c.o.Settings.Listen}
	c.Mistakes = append(c.Mistakes, tomltree.Decode(t, &table)...)
	s := &c.o.Settings
	s.Listen, s.Hosts, s.Origins = table.Listen, table.Hosts, table.Origins
	if e := t.Get("policies"); e != nil && !c.Mistakes.HasErrors() {
		c.policies(table.Policies, e)
	}
	s.Passthrough, s.ServerTools, s.PassItems = table.Passthrough, table.ServerTools, table.PassItems
	s.OnBlock = table.OnBlock
	if table.Rounds != nil {
		s.AnswerRounds = *table.Rounds
		if s.AnswerRounds < 0 || s.AnswerRounds > maxRounds {
			c.Report(t.Get("answer_rounds").Value, "answer_rounds is a number from 0 to %d", maxRounds)
		}
	}
	s.CacheKeyIsSession, s.ShareSubagents = table.CacheKey, table.Subagents
	if table.OnDeny != nil {
		s.OnDeny = *table.OnDeny
	}
	if table.AfterDeny != nil {
		s.AfterDeny = *table.AfterDeny
	}
	if table.CancelAfter != nil {
		if s.CancelAfter = *table.CancelAfter; s.CancelAfter < 0 {
			c.Report(t.Get("cancel_after").Value, "cancel_after is a number of bytes, 0 or more")
		}
	}
	if e := t.Get("passthrough"); e != nil && e.Value.Kind == tomltree.Array {
		for _, v := range e.Value.Elements {
			if err := gateway.CheckRoute(v.Text); err != nil && v.Kind == tomltree.String {
				c.Report(v, "%s", strings.TrimPrefix(err.Error(), "gateway: "))
			}
		}
	}
	c.access(t, &table.access)
}

// limitsTable is the table [limits].
type limitsTable struct {
	RequestBytes   int64         `toml:"request_bytes"`
	EventBytes     int           `toml:"event_bytes"`
	BodyBytes      int           `toml:"body_bytes"`
	Calls          int           `toml:"calls"`
	HeldBytes      int64         `toml:"held_bytes"`
	HeldBytesTotal int64         `toml:"held_bytes_total"`
	Exchanges      int64         `toml:"exchanges"`
	Header         time.Duration `toml:"header"`
	Request        time.Duration `toml:"request"`
	Connect        time.Duration `toml:"connect"`
	Answer         time.Duration `toml:"answer"`
	AnswerWhole    time.Duration `toml:"answer_whole"`
	IdleFirst      time.Duration `toml:"idle_first"`
	Idle           time.Duration `toml:"idle"`
	Exchange       time.Duration `toml:"exchange"`
	Write          time.Duration `toml:"write"`
	Drain          time.Duration `toml:"drain"`
	ReadOn         time.Duration `toml:"read_on"`
	ReadOnBytes    int64         `toml:"read_on_bytes"`
}

func (c *configurer) limits(t *tomltree.Value) {
	l, d := &c.o.Settings.Limits, &c.o.Settings.Timeouts
	table := limitsTable{
		l.Request, l.Event, l.Body, l.Calls, l.HeldResponse, l.HeldProcess, l.Exchanges,
		d.Header, d.Request, d.Connect, d.Answer, d.AnswerWhole, d.IdleFirst, d.Idle, d.Exchange, d.Write, d.Drain, d.ReadOn, l.ReadOn,
	}
	found := tomltree.Decode(t, &table)
	c.Mistakes = append(c.Mistakes, found...)
	if t == nil || found.HasErrors() {
		return
	}
	for _, e := range t.Entries {
		if zero(e.Value) {
			c.Report(e.Value, "%s must be above zero", e.Key)
		}
	}
	l.Request, l.Event, l.Body, l.Calls = table.RequestBytes, table.EventBytes, table.BodyBytes, table.Calls
	l.HeldResponse, l.HeldProcess, l.Exchanges = table.HeldBytes, table.HeldBytesTotal, table.Exchanges
	d.Header, d.Request, d.Connect, d.Answer, d.AnswerWhole = table.Header, table.Request, table.Connect, table.Answer, table.AnswerWhole
	d.IdleFirst, d.Idle, d.Exchange, d.Write, d.Drain = table.IdleFirst, table.Idle, table.Exchange, table.Write, table.Drain
	d.ReadOn, l.ReadOn = table.ReadOn, table.ReadOnBytes
}

// zero reports whether a number or duration is not positive: settings of [limits] cannot be
// disabled.
func zero(v *tomltree.Value) bool {
	if v.Kind == tomltree.String {
		d, err := time.ParseDuration(v.Text)
		return err == nil && d <= 0
	}
	return strings.HasPrefix(v.Text, "-") || strings.Trim(v.Text, "+0_xob") == ""
}
