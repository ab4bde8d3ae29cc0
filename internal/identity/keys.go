package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxKeys is the maximum length of the issuer's list of keys in bytes.
const maxKeys = 1 << 20

// keys are the published keys of an issuer. It implements [oidc.KeySet].
type keys struct {
	issuer string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	list    []jose.JSONWebKey
	read    time.Time // when list was read
	tried   time.Time // when it was last tried
	reading chan struct{}
	err     error // of the last try
}

// VerifySignature returns the payload of a token that one of the keys signed. The caller has checked
// the algorithm.
func (k *keys) VerifySignature(ctx context.Context, text string) ([]byte, error) {
	signed, err := jose.ParseSigned(text, joseAlgorithms())
	if err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	if len(signed.Signatures) != 1 {
		return nil, errors.New("it does not have one signature")
	}
	id := signed.Signatures[0].Header.KeyID
	list, err := k.named(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if payload, err := signed.Verify(&list[i]); err == nil {
			return payload, nil
		}
	}
	return nil, fmt.Errorf("no key of the issuer with the id %.100q signed it", id)
}

func joseAlgorithms() (list []jose.SignatureAlgorithm) {
	for _, name := range algorithms {
		list = append(list, jose.SignatureAlgorithm(name))
	}
	return list
}

// named returns the keys with an id; "" is an issuer's only key. They are read again if they are old,
// or if none has the id.
func (k *keys) named(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	list, age := k.current()
	switch {
	case list == nil || age > MaxKeyAge:
		list = k.fetch(ctx)
	case age > KeyRefresh:
		go k.fetch(context.WithoutCancel(ctx)) // the known ones serve until they arrive
	}
	found := withID(list, id)
	if found == nil && list != nil {
		found = withID(k.fetch(ctx), id)
	}
	if found != nil {
		return found, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return nil, fmt.Errorf("the keys of the issuer are not known: %w", k.err)
	}
	return nil, fmt.Errorf("the issuer has no key with the id %.100q", id)
}

func withID(list []jose.JSONWebKey, id string) (found []jose.JSONWebKey) {
	if id == "" && len(list) == 1 {
		return list
	}
	for _, key := range list {
		if id != "" && key.KeyID == id {
			found = append(found, key)
		}
	}
	return found
}

func (k *keys) current() (list []jose.JSONWebKey, age time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list, k.now().Sub(k.read)
}

// fetch reads the keys, unless that was just tried, and returns those that may be used. Callers at the
// same time share one attempt.
func (k *keys) fetch(ctx context.Context) []jose.JSONWebKey {
	k.mu.Lock()
	if wait := k.reading; wait != nil {
		k.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
		}
		return k.usable()
	}
	if !k.tried.IsZero() && k.now().Sub(k.tried) < fetchInterval {
		k.mu.Unlock()
		return k.usable()
	}
	done := make(chan struct{})
	k.reading, k.tried = done, k.now()
	k.mu.Unlock()
	list, err := k.download(context.WithoutCancel(ctx)) // others wait for it, too
	k.mu.Lock()
	if k.err = err; err == nil {
		k.list, k.read = list, k.now()
	}
	k.reading = nil
	k.mu.Unlock()
	close(done)
	return k.usable()
}

// usable returns the keys, nil if they are too old.
func (k *keys) usable() []jose.JSONWebKey {
	list, age := k.current()
	if age > MaxKeyAge {
		return nil
	}
	return list
}

// download reads the issuer's configuration and the keys that it names.
func (k *keys) download(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, k.client), fetchTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, k.issuer)
	if err != nil {
		return nil, err
	}
	var where struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&where); err != nil {
		return nil, err
	}
	if err := CheckURL(where.Keys); err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.Keys, nil)
	if err != nil {
		return nil, err
	}
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxKeys+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read keys: %w", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("read keys: status %d", answer.StatusCode)
	case len(body) > maxKeys:
		return nil, fmt.Errorf("read keys: more than %d bytes", maxKeys)
	}
	return parseKeys(body)
}

// parseKeys reads a set of keys. It leaves out those that sign nothing, that are not public keys of a
// pair and that are of a kind that is not known.
func parseKeys(body []byte) (list []jose.JSONWebKey, err error) {
	set, err := jsonstream.Parse(body, jsonstream.Options{ObjectRoot: true, MaxBytes: maxKeys})
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	all, _ := set.Get("keys")
	if all.Kind() != jsonstream.Array {
		return nil, errors.New("read keys: the answer has no list of keys")
	}
	for each := range all.Elements() {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(each.Raw()) != nil || !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
			continue
		}
		list = append(list, key)
	}
	if len(list) == 0 {
		return nil, errors.New("read keys: the answer has no public key for signatures")
	}
	return list, nil
}

// CheckURL returns an error for an address that requests to an issuer must not have: only loopback is
// reached without TLS.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("want https://HOST/..., not %q", text)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("want https://HOST/..., not %q: whoever can change the answer can sign tokens", text)
}

// maxRedirects is how many redirects of an issuer are followed.
const maxRedirects = 5

// checkRedirect applies CheckURL to the address of a redirect.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	return CheckURL(r.URL.String())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
