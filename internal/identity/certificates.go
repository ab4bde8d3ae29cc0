package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/stopgate/stopgate"
)

// MTLS is a SPIFFE trust domain whose workloads authenticate with client certificates.
type MTLS struct {
	CA          string // the PEM file of its roots
	TrustDomain string // its name, such as example.org
}

// CheckTrustDomain returns an error if a text is not the name of a trust domain.
func CheckTrustDomain(name string) error {
	td, err := spiffeid.TrustDomainFromString(name)
	if err == nil && td.Name() != name {
		return fmt.Errorf("want the name of the trust domain alone: %q", td.Name())
	}
	return err
}

// Names reports whether a principal is one that only certificates of the trust domain name.
func (m *MTLS) Names(who stopgate.Principal) bool {
	return m != nil && strings.HasPrefix(string(who), "spiffe://"+m.TrustDomain+"/")
}

// Certificates authenticate workloads. They are safe for concurrent use.
type Certificates struct {
	domain spiffeid.TrustDomain
	roots  *roots
	now    func() time.Time
	log    *slog.Logger
}

// OpenCertificates reads the roots of a trust domain. Of the options it uses the clock and the log.
func OpenCertificates(m MTLS, o Options) (*Certificates, error) {
	if err := CheckTrustDomain(m.TrustDomain); err != nil {
		return nil, fmt.Errorf("trust domain %q: %w", m.TrustDomain, err)
	}
	c := &Certificates{domain: spiffeid.RequireTrustDomainFromString(m.TrustDomain), now: o.Now, log: o.Log}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	var err error
	c.roots, err = openRoots(m.CA, c.now, c.log)
	return c, err
}

// AuthenticateConnection returns the workload at the other end of a connection with a client
// certificate. It checks everything at every call, so that a connection does not outlive its
// certificate or its root. The error is for logs, where it is written already.
func (c *Certificates) AuthenticateConnection(s *tls.ConnectionState) (stopgate.Principal, error) {
	who, err := c.workload(s.PeerCertificates)
	if err != nil {
		c.log.Warn("a client certificate is refused", "reason", err.Error())
		return "", err
	}
	return who, nil
}

// workload returns the SPIFFE id of a chain of certificates, the leaf first.
func (c *Certificates) workload(chain []*x509.Certificate) (stopgate.Principal, error) {
	if len(chain) == 0 {
		return "", errors.New("there is no certificate")
	}
	pool, err := c.roots.current()
	if err != nil {
		return "", err
	}
	leaf := chain[0]
	o := x509.VerifyOptions{
		Roots: pool, Intermediates: x509.NewCertPool(), CurrentTime: c.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, between := range chain[1:] {
		o.Intermediates.AddCert(between)
	}
	if _, err := leaf.Verify(o); err != nil {
		return "", err
	}
	if err := checkLeaf(leaf); err != nil {
		return "", err
	}
	if len(leaf.URIs) != 1 {
		return "", fmt.Errorf("the certificate has %d URIs as names, want one SPIFFE id", len(leaf.URIs))
	}
	id, err := spiffeid.FromURI(leaf.URIs[0])
	switch {
	case err != nil:
		return "", fmt.Errorf("the URI of the certificate is no SPIFFE id: %w", err)
	case !id.MemberOf(c.domain):
		return "", fmt.Errorf("the certificate belongs to the trust domain %q, not to %q", id.TrustDomain().Name(), c.domain.Name())
	case id.Path() == "":
		return "", errors.New("the SPIFFE id of the certificate names a trust domain and no workload")
	}
	who := stopgate.Principal(id.String())
	if err := CheckPrincipal(who); err != nil {
		return "", fmt.Errorf("the SPIFFE id of the certificate: %w", err)
	}
	return who, nil
}

// checkLeaf checks that a certificate is one of a workload, as X.509-SVID requires, and was issued to
// clients: a certificate without a purpose serves every purpose for package x509.
func checkLeaf(leaf *x509.Certificate) error {
	switch {
	case leaf.IsCA || leaf.KeyUsage&(x509.KeyUsageCertSign|x509.KeyUsageCRLSign) != 0:
		return errors.New("the certificate is that of an authority, not of a workload")
	case leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0:
		return errors.New("the key of the certificate may not sign (keyUsage lacks digitalSignature)")
	case !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth):
		return errors.New("the certificate is not for clients (extKeyUsage lacks clientAuth)")
	}
	return nil
}
