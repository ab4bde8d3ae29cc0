package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Settings are the gateway's own settings. Begin with DefaultSettings.
type Settings struct {
	// Listen is the address to listen on. Anything but loopback needs a token.
	Listen string
	// Hosts are the names under which clients may reach the gateway, beside the
	// loopback names and the host of Listen (G9).
	Hosts []string
	// Origins are the browser origins that may send requests; none by default.
	Origins []string
	// OnDeny is the form of a denial (WIRE 0.2).
	OnDeny OnDeny
	// AnswerRounds is how often a model is answered within one response, with
	// DenyAnswer.
	AnswerRounds int
	// OnBlock says what a denied call means for the other calls of its response.
	OnBlock OnBlock
	// AfterDeny says what becomes of the upstream's response once everything that
	// it could still bring is denied.
	AfterDeny AfterDeny
	// CancelAfter is how many bytes of one denied call may arrive behind its decision
	// before the upstream is cancelled, with CancelUpstream. 0 cancels at the decision.
	CancelAfter int64
	// Passthrough are further routes, "METHOD /path/{name}", forwarded unjudged
	// and recorded as not_evaluated (WIRE 0.4).
	Passthrough []string
	// ServerTools are the types of tools that may run at the provider; a trailing
	// * stands for any suffix (WIRE 2.8).
	ServerTools []string
	// PassItems are types of output items that the gateway does not know and that
	// pass unjudged, recorded as not_evaluated (WIRE 3.3).
	PassItems []string
	// TLSCert and TLSKey name the files of the certificate; whoever serves opens them
	// and sets [Options.TLS].
	TLSCert, TLSKey string
	// CacheKeyIsSession takes prompt_cache_key for the id of a session: for clients
	// that do not share it between conversations.
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
	DenyText   OnDeny = iota // a text stands for the call, the turn goes on
	DenyError                // the response ends with the dialect's error event
	DenyAnswer               // the model is answered and goes on, where nothing is left of its turn
)

// OnBlock says whether the other calls of a response go on beside a denied one.
type OnBlock uint8

// The zero value takes the denied call out and nothing else (REQUIREMENTS X10).
const (
	BlockCall OnBlock = iota
	BlockTurn         // calls that are not released yet are cancelled, later ones too
)

// AfterDeny says whether a response whose calls are all denied is read on.
type AfterDeny uint8

// The zero value stops the upstream at once.
const (
	CancelUpstream AfterDeny = iota // cancelled once CancelAfter bytes of one denied call came in vain
	DrainUpstream                   // read to the end, unseen, for usage and audit
)

// Limits bound what one response and all of them together may hold (WIRE 1.2,
// 9.5). Bytes, unless said otherwise.
type Limits struct {
	Request      int64 // one request body
	Event        int   // one event of a response
	Body         int   // one response that is not streamed
	Calls        int   // number of calls of one response
	HeldResponse int64 // argument bytes that one response holds back
	HeldProcess  int64 // argument bytes that all responses hold back
	Exchanges    int64 // number of requests at once
	ReadOn       int64 // bytes of a stored response that are read after its client has the end
}

// Timeouts bound every wait (WIRE 9.5, FM5).
type Timeouts struct {
	Header         time.Duration // a client's request header
	Request        time.Duration // a client's request body
	Connect        time.Duration // dialling the upstream, and its TLS handshake
	Answer         time.Duration // the upstream's response header, streamed
	AnswerWhole    time.Duration // the same, not streamed
	IdleFirst      time.Duration // between two upstream bytes, before the first content
	Idle           time.Duration // between two upstream bytes, later
	Exchange       time.Duration // a whole exchange
	Write          time.Duration // one write to the client
	Keepalive      time.Duration // between two signs of life while something is held
	KeepaliveFirst time.Duration // before the first of them
	DrainUpstream  time.Duration // reading on after the last call was denied
	Unary          time.Duration // waiting for people with a response that is not streamed
	Linger         time.Duration // reading on after the response's end
	Hook           time.Duration // one hook of an event policy
	Drain          time.Duration // finishing exchanges at shutdown
	ReadOn         time.Duration // reading a stored response after its client has the end
}

// over returns t with the waiting times for an upstream that are not zero here.
func (t Timeouts) over(base Timeouts) Timeouts {
	for _, f := range []struct {
		of   time.Duration
		into *time.Duration
	}{
		{t.Connect, &base.Connect}, {t.Answer, &base.Answer}, {t.AnswerWhole, &base.AnswerWhole},
		{t.IdleFirst, &base.IdleFirst}, {t.Idle, &base.Idle},
	} {
		if f.of > 0 {
			*f.into = f.of
		}
	}
	return base
}

// DefaultSettings returns the documented defaults: loopback only.
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

// check finds settings with which no gateway may start. guarded says that clients
// need a token.
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
	if !loopback(host) && !guarded {
		return fmt.Errorf("gateway: listening on %q lets other machines in: set a token first, [gateway.tokens.NAME], or listen on 127.0.0.1", s.Listen)
	}
	return nil
}

// loopback reports whether a host is this machine and nothing else.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkUpstream reads an upstream's base URL.
func checkUpstream(u Upstream) (*url.URL, error) {
	base, err := url.Parse(u.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream %s: %w", u.ID, err)
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("gateway: upstream %s: base URL %q: want http://HOST or https://HOST", u.ID, u.BaseURL)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "" || base.RawPath != "":
		return nil, fmt.Errorf("gateway: upstream %s: the base URL has no user, query or fragment", u.ID)
	}
	if ip, err := netip.ParseAddr(base.Hostname()); err == nil && forbiddenAddress(ip) {
		return nil, fmt.Errorf("gateway: upstream %s: %s is a link-local, multicast or metadata address", u.ID, ip)
	}
	if u.Key != "" && base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("gateway: upstream %s: a key is not sent over plain http", u.ID)
	}
	return base, nil
}
