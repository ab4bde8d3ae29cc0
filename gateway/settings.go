package gateway

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gateway/upstream"
)

// Settings are the gateway's settings. Start from DefaultSettings.
type Settings struct {
	// Listen is the address to listen on. Addresses other than loopback require a token.
	Listen string
	// Hosts are further names under which clients reach the gateway, in addition to loopback names
	// and the host of Listen (G9).
	Hosts []string
	// Origins are the allowed browser origins; none by default.
	Origins []string
	// OnDeny is the form of a denial in a response.
	OnDeny OnDeny
	// AnswerRounds is how often a model is answered within one response with DenyAnswer.
	AnswerRounds int
	// OnBlock determines how a denied call affects the other calls of its response.
	OnBlock OnBlock
	// AfterDeny determines whether the upstream response is drained or cancelled once no call can
	// run any longer.
	AfterDeny AfterDeny
	// CancelAfter is the number of bytes of a denied call after which the upstream is cancelled,
	// with CancelUpstream. 0 cancels at the denial.
	CancelAfter int64
	// Passthrough are further routes, "METHOD /path/{name}", forwarded without a verdict and
	// recorded as not_evaluated.
	Passthrough []string
	// ServerTools are the types of tools that are allowed to run at the provider; a trailing *
	// matches any suffix.
	ServerTools []string
	// PassItems are types of output items, unknown to the gateway, that are forwarded without a
	// verdict and recorded as not_evaluated.
	PassItems []string
	// TLSCert and TLSKey are the files of the certificate. The caller of Serve opens them and sets
	// [Options.TLS].
	TLSCert, TLSKey string
	// CacheKeyIsSession uses prompt_cache_key as the id of a session, for clients that use one key
	// per conversation.
	CacheKeyIsSession bool
	// ShareSubagents lets the sub-agents of a session share its facts.
	ShareSubagents bool
	Limits         Limits
	Timeouts       Timeouts
}

// OnDeny is the form of a denial in a response.
type OnDeny uint8

// The forms. The zero value replaces the call by a text.
const (
	DenyText   OnDeny = iota // a text replaces the call and the turn continues
	DenyError                // the response ends with the dialect's error event
	DenyAnswer               // the model is answered and continues if none of its calls can run
)

// UnmarshalText parses on_deny.
func (d *OnDeny) UnmarshalText(text []byte) error {
	*d = map[string]OnDeny{"error": DenyError, "answer": DenyAnswer}[string(text)]
	return word(text, "text", "error", "answer")
}

// OnBlock determines whether the other calls of a response continue after a denial.
type OnBlock uint8

// The zero value removes only the denied call (X10).
const (
	BlockCall OnBlock = iota
	BlockTurn         // cancels all calls that are not released yet, including later ones
)

// UnmarshalText parses on_block.
func (b *OnBlock) UnmarshalText(text []byte) error {
	*b = BlockCall
	if string(text) == "stop" {
		*b = BlockTurn
	}
	return word(text, "call", "stop")
}

// AfterDeny determines whether a response is read on once all its calls are denied.
type AfterDeny uint8

// The zero value cancels the upstream.
const (
	CancelUpstream AfterDeny = iota // cancelled after CancelAfter bytes of one denied call
	DrainUpstream                   // read to the end and discarded, for usage and audit
)

// UnmarshalText parses after_deny.
func (d *AfterDeny) UnmarshalText(text []byte) error {
	*d = CancelUpstream
	if string(text) == "drain" {
		*d = DrainUpstream
	}
	return word(text, "cancel", "drain")
}

func word(text []byte, words ...string) error {
	for _, w := range words {
		if string(text) == w {
			return nil
		}
	}
	return fmt.Errorf("want %s, not %q", strings.Join(words, " or "), text)
}

// Limits limit the memory of one response and of all responses. Bytes, unless stated otherwise.
type Limits struct {
	Request      int64 // one request body
	Event        int   // one event of a response
	Body         int   // one response that is not streamed
	Calls        int   // number of calls of one response
	HeldResponse int64 // buffered argument bytes of one response
	HeldProcess  int64 // buffered argument bytes of all responses
	Exchanges    int64 // number of concurrent requests
	ReadOn       int64 // bytes of a stored response that are read after its client received the end
}

// Timeouts limit every wait (FM5).
type Timeouts struct {
	Header         time.Duration // a client's request header
	Request        time.Duration // a client's request body
	Connect        time.Duration // dialling the upstream, and its TLS handshake
	Answer         time.Duration // the upstream's response header, streamed
	AnswerWhole    time.Duration // the same, not streamed
	IdleFirst      time.Duration // between two upstream bytes, before the first content
	Idle           time.Duration // idle time of the upstream after the first content
	Exchange       time.Duration // a whole exchange
	Write          time.Duration // one write to the client
	Keepalive      time.Duration // interval of keepalives while something is buffered
	KeepaliveFirst time.Duration // delay of the first keepalive
	DrainUpstream  time.Duration // reading after the last call was denied
	Unary          time.Duration // approval of calls in a response that is not streamed
	Linger         time.Duration // reading after the end of the response
	Hook           time.Duration // one hook of an event policy
	Drain          time.Duration // finishing exchanges at shutdown
	ReadOn         time.Duration // reading a stored response after its client received the end
}

// DefaultSettings returns the documented defaults, which listen only on loopback.
func DefaultSettings() Settings {
	return Settings{
		Listen: "127.0.0.1:8788", AnswerRounds: 2, CancelAfter: 4 << 10,
		Limits: Limits{
			Request: 64 << 20, Event: 32 << 20, Body: 32 << 20, Calls: 256,
			HeldResponse: 32 << 20, HeldProcess: 1 << 30, Exchanges: 10_000, ReadOn: 64 << 20,
		},
		Timeouts: Timeouts{
			Header: 10 * time.Second, Request: time.Minute, Connect: 10 * time.Second,
			Answer: 2 * time.Minute, AnswerWhole: 10 * time.Minute,
			IdleFirst: 5 * time.Minute, Idle: time.Minute, Exchange: 30 * time.Minute,
			Write: 30 * time.Second, Keepalive: 10 * time.Second, KeepaliveFirst: 5 * time.Second,
			DrainUpstream: 30 * time.Second, Unary: 50 * time.Second, Linger: 250 * time.Millisecond, Hook: 10 * time.Second, Drain: 30 * time.Second,
			ReadOn: 2 * time.Minute,
		},
	}
}

// check returns an error for settings with which no gateway may start. guarded reports whether
// clients need a token.
func (s *Settings) check(guarded bool) error {
	if s.OnDeny > DenyAnswer || s.AnswerRounds < 0 || s.OnBlock > BlockTurn || s.AfterDeny > DrainUpstream {
		return errors.New("gateway: unknown on_deny, on_block or after_deny")
	}
	if s.CancelAfter < 0 {
		return errors.New("gateway: cancel_after must not be negative")
	}
	for _, n := range []int64{s.Limits.Request, int64(s.Limits.Event), int64(s.Limits.Body), int64(s.Limits.Calls),
		s.Limits.HeldResponse, s.Limits.HeldProcess, s.Limits.Exchanges, s.Limits.ReadOn} {
		if n <= 0 {
			return errors.New("gateway: every limit must be above zero")
		}
	}
	t := &s.Timeouts
	for _, d := range []time.Duration{t.Header, t.Request, t.Connect, t.Answer, t.AnswerWhole, t.IdleFirst, t.Idle,
		t.Exchange, t.Write, t.Keepalive, t.KeepaliveFirst, t.DrainUpstream, t.Unary, t.Linger, t.Hook, t.Drain, t.ReadOn} {
		if d <= 0 {
			return errors.New("gateway: every timeout must be above zero")
		}
	}
	if _, err := parseRoutes(s.Passthrough); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("gateway: listen address %q: want HOST:PORT", s.Listen)
	}
	if !upstream.Loopback(host) && !guarded {
		return fmt.Errorf("gateway: listening on %q lets other machines in: set a token first, [gateway.tokens.NAME], or listen on 127.0.0.1", s.Listen)
	}
	return nil
}
