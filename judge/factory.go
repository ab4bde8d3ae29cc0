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
	"github.com/stopgate/stopgate/internal/system/secret"
)

// Options configure a Factory. The zero value uses the environment and the files of this machine.
type Options struct {
	Getenv func(string) string          // resolves key_env; default os.Getenv
	Read   func(string) ([]byte, error) // reads key_file; the default rejects files that other users can read
	// Transport sends the requests; the default is a transport of the factory's own. It must not
	// follow redirects.
	Transport http.RoundTripper
	Now       func() time.Time // default time.Now
	// Objections stores objections for other processes. If nil, they are cached in memory only.
	Objections Objections
}

// Objections stores the pending calls that a judge objected to, by a hash of everything that the
// response depends on (S27). It exists for hooks, where each call is a process of its own. It
// stores only objections, so writing to it can deny calls and cannot allow any.
type Objections interface {
	SaveObjection(ctx context.Context, proposal [32]byte, probability float64, explanation string, at time.Time) error
	Objection(ctx context.Context, proposal [32]byte) (probability float64, explanation string, at time.Time, found bool, err error)
}

// Factory creates judges, which share its connections and its cache of responses. It is safe for
// concurrent use and outlives the policies of its judges.
type Factory struct {
	o      Options
	client *http.Client
	known  cache
}

// New returns a factory.
func New(o Options) *Factory {
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
	return &Factory{o: o, client: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Judge creates the judge that a [judge] table configures. The error names a missing setting; a
// gate does not start without its judges.
func (f *Factory) Judge(t *gate.JudgeTable) (gate.Judge, error) {
	j, err := f.open(t)
	if err != nil {
		return nil, fmt.Errorf("%s: [judge] %w", t.Source, err)
	}
	return j, nil
}

// providers are the default base URLs.
var providers = map[string]string{"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}

func (f *Factory) open(t *gate.JudgeTable) (*judge, error) {
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
	key, err := f.key(t)
	if err != nil {
		return nil, err
	}
	if key != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, errors.New("base_url: a key is not sent over plain http")
	}
	return newJudge(f, t, d, endpoint(u, d.path), key), nil
}

// key reads the API key, or returns "" if none is configured.
func (f *Factory) key(t *gate.JudgeTable) (string, error) {
	if t.KeyEnv == "" && t.KeyFile == "" {
		return "", nil
	}
	return secret.Reader{Getenv: f.o.Getenv, Read: f.o.Read}.Text(t.KeyEnv, t.KeyFile)
}

// endpoint joins the base URL and the path of the API. It does not repeat a version such as /v1 at
// the end of the base.
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
