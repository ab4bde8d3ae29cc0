package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// Limits of an answer.
const (
	maxAnswer = 1 << 20
	maxHeader = 16 << 10
)

// Options configure a Factory. The zero value uses the environment and the files of this machine.
type Options struct {
	Secrets secret.Reader
	// Transport replaces the connections of URLs with https and http, for tests.
	Transport http.RoundTripper
	Now       func() time.Time // default time.Now
	// Answered is called with every answer, and with every failure. It must not block.
	Answered func(stopgate.ExternalAnswer)
	// Failed is called with the detailed error of every failure, for the log of the operator.
	Failed func(policy, hook string, err error)
}

// Factory makes external policies. It is safe for concurrent use and outlives the policies.
type Factory struct {
	o     Options
	known memory

	mu         sync.Mutex
	transports map[string]*http.Transport // by socket, "" for the other URLs
}

// New returns a factory.
func New(o Options) *Factory {
	if o.Secrets.Getenv == nil {
		o.Secrets = secret.Machine()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Factory{o: o}
}

// service is the client of one table.
type service struct {
	f       *Factory
	table   *gate.ExternalTable
	address string // URL of the requests
	token   string
	timeout time.Duration
	http    *http.Client
}

// service returns the client of a table. The error names a missing setting.
func (f *Factory) service(t *gate.ExternalTable) (*service, error) {
	fail := func(err error) (*service, error) {
		return nil, fmt.Errorf("%s: [[external]] %q: %w", t.Source, t.Name, err)
	}
	u, socket, err := syntax.ExternalURL(t.URL)
	if err != nil {
		return fail(fmt.Errorf("url %q: %w", t.URL, err))
	}
	s := &service{f: f, table: t, address: t.URL, timeout: time.Duration(t.Timeout) * time.Millisecond}
	if t.TokenEnv+t.TokenFile != "" {
		if s.token, err = f.o.Secrets.Text(t.TokenEnv, t.TokenFile); err != nil {
			return fail(fmt.Errorf("token: %w", err))
		}
	}
	transport := f.o.Transport
	if socket != "" || transport == nil {
		transport = f.transport(socket)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	if s.address = u.String(); socket != "" {
		s.address = "http://socket/"
	}
	s.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// transport returns the transport of a socket, or of other URLs, without proxies and compression.
// Policies that are compiled again use its connections.
func (f *Factory) transport(socket string) *http.Transport {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, ok := f.transports[socket]; ok {
		return t
	}
	t := &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
	if socket != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, socket) }
	}
	if f.transports == nil {
		f.transports = map[string]*http.Transport{}
	}
	f.transports[socket] = t
	return t
}

// dial connects to a socket and checks who serves it.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := trusted(c.(*net.UnixConn), socket); err != nil {
		c.Close()
		return nil, fmt.Errorf("%w: %w", errUntrusted, err)
	}
	return c, nil
}

// Failures. Audit rows have these words, and nothing that the service sent.
var (
	errConnection = errors.New("connection failed")
	errClosed     = errors.New("connection closed")
	errTimeout    = errors.New("timeout")
	errLong       = errors.New("answer too long")
	errType       = errors.New("answer is not application/json")
	errUntrusted  = errors.New("socket of another user")
	errVersion    = errors.New("another version of the protocol")
	errOther      = errors.New("answer to another question")
	errForm       = errors.New("invalid answer")
	errReported   = errors.New("the policy failed")
)

// failure is the error of a question without a valid answer. Its code is that of the denial.
type failure struct {
	err  error
	word string
	code stopgate.Code
}

// Error returns the text for operators.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// Code is the code of the denial.
func (f *failure) Code() stopgate.Code { return f.code }

// failed describes an error for rows and denials.
func failed(err error) *failure {
	f := &failure{err: err, word: "error", code: stopgate.CodePolicyError}
	for _, known := range []error{errUntrusted, errConnection, errClosed, errTimeout, errLong, errType, errVersion, errOther, errForm, errReported} {
		if errors.Is(err, known) {
			f.word = known.Error()
			break
		}
	}
	var status statusError
	switch {
	case errors.As(err, &status):
		f.word = status.Error()
	case errors.Is(err, errTimeout):
		f.code = stopgate.CodePolicyTimeout
	case errors.Is(err, errVersion), errors.Is(err, errOther), errors.Is(err, errForm), errors.Is(err, errLong), errors.Is(err, errType):
		f.code = stopgate.CodeInvalidPolicyResult
	case errors.Is(err, errInvalidReported):
		f.code = stopgate.CodeInvalidPolicyResult
	}
	return f
}

// statusError is the status of a response other than 200.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("http %d", int(s)) }

// post sends a question and returns the text of the answer.
func (s *service) post(ctx context.Context, question []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(question))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errConnection, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "stopgate")
	// A question has no effect: net/http may repeat it where the service closed an idle connection.
	r.Header["Idempotency-Key"] = nil
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.http.Do(r)
	if err != nil {
		return nil, s.broken(ctx, errConnection, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, statusError(response.StatusCode)
	}
	kind, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || response.Header.Get("Content-Encoding") != "" || len(parameters) > 0 && parameters["charset"] != "utf-8" {
		return nil, errType
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, s.broken(ctx, errClosed, err)
	case len(text) > maxAnswer:
		return nil, errLong
	}
	return text, nil
}

// broken returns the error of a connection: a timeout, if the time is up.
func (s *service) broken(ctx context.Context, what, err error) error {
	if ctx.Err() != nil {
		what = errTimeout
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = errClosed
	}
	return fmt.Errorf("%w: %w", what, err)
}
