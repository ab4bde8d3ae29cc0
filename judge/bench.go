package judge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/secret"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Options are what a Bench is made of; the zero value is the machine it runs on.
type Options struct {
	Getenv func(string) string          // finds key_env; nil: os.Getenv
	Read   func(string) ([]byte, error) // reads key_file; nil: files that only their owner can read
	// Transport makes the requests; nil: one of the bench's own. It must not follow
	// redirects.
	Transport http.RoundTripper
	Now       func() time.Time // nil: time.Now
	// Objections are kept where other processes find them; nil: in memory alone.
	Objections Objections
}

// Objections remember proposals that a judge objected to, by a hash of everything that
// its answer depends on (DECISIONS S27): a hook is one process for each call. Only
// objections are kept, so what somebody writes there can refuse and not permit.
type Objections interface {
	KeepObjection(ctx context.Context, proposal [32]byte, probability float64, explanation string, at time.Time) error
	Objection(ctx context.Context, proposal [32]byte) (probability float64, explanation string, at time.Time, found bool, err error)
}

// Bench makes judges and keeps what they share: connections and remembered answers. It
// is safe for concurrent use, and outlives the policies that its judges come from.
type Bench struct {
	o      Options
	client *http.Client
	known  cache
}

// New returns a bench without judges.
func New(o Options) *Bench {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Read == nil {
		o.Read = secret.ReadFile
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &Bench{o: o, client: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Judge makes the judge that a policy file asks for. The error says what is missing; a
// gate does not begin to work without its judges.
func (b *Bench) Judge(t *syntax.Judge) (gate.Judge, error) {
	j, err := b.open(t)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: [judge] %w", t.File, t.Pos.Start.Line, err)
	}
	return j, nil
}

// The providers' own addresses.
var providers = map[string]string{"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}

func (b *Bench) open(t *syntax.Judge) (*judge, error) {
	d, ok := dialects[t.API]
	if !ok {
		return nil, fmt.Errorf("api %q: want openai or anthropic", t.API)
	}
	base := t.BaseURL
	if base == "" {
		base = providers[t.API]
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("base_url %q: want http://HOST or https://HOST", base)
	}
	key, err := b.key(t)
	if err != nil {
		return nil, err
	}
	if key != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, errors.New("base_url: a key is not sent over plain http")
	}
	return newJudge(b, t, d, endpoint(u, d.path), key), nil
}

// key finds the key. An endpoint on this machine may have none.
func (b *Bench) key(t *syntax.Judge) (string, error) {
	if t.KeyEnv == "" && t.KeyFile == "" {
		return "", nil
	}
	return secret.Reader{Getenv: b.o.Getenv, Read: b.o.Read}.Text(t.KeyEnv, t.KeyFile)
}

// endpoint joins the base URL and the path of the API. A base that ends in a version
// such as /v1 has it already.
func endpoint(u *url.URL, path string) *url.URL {
	base := strings.TrimSuffix(u.Path, "/")
	if last := base[strings.LastIndexByte(base, '/')+1:]; len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		path = strings.TrimPrefix(path, "/v1")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: base + path}
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && net.IP(ip.AsSlice()).IsLoopback()
}
