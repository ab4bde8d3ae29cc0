package gateway

import (
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/stopgate/stopgate"
)

// wantsTokens reports whether clients can show tokens.
func (c *configuration) wantsTokens() bool { return len(c.tokens) > 0 || c.identity != nil }

// serverTLS returns the TLS configuration of Serve. It asks for client certificates if there is who
// authenticates them. They are checked for resumed connections too, and a client cannot choose to be
// anonymous: a certificate that does not hold ends the handshake.
func (g *Gateway) serverTLS() *tls.Config {
	config := g.tls.Clone()
	if config == nil || g.conf.Load().workloads == nil {
		return config
	}
	config.ClientAuth = tls.RequestClientCert
	config.VerifyConnection = func(s tls.ConnectionState) error {
		c := g.conf.Load()
		if len(s.PeerCertificates) == 0 {
			if c.wantsTokens() {
				return nil
			}
			return errors.New("gateway: no client certificate, and no tokens are configured")
		}
		_, err := c.workloads.AuthenticateConnection(&s)
		return err
	}
	return config
}

// certificate finds the client of the connection's certificate. A token of the gate would name
// another one, so that the principal would be a guess (G10).
func (v *clientRequest) certificate(r *http.Request) *refusal {
	no := &refusal{status: http.StatusUnauthorized, code: stopgate.CodeUnauthenticated, message: twoIdentities, why: "a client certificate and a token"}
	var issued func(string) bool
	if v.identity != nil {
		issued = v.identity.Issued
	}
	if len(takeTokens(r, issued).all) > 0 {
		return no
	}
	who, err := v.workloads.AuthenticateConnection(r.TLS)
	if err != nil {
		no.message, no.why = noCertificate, "not authenticated: "+truncate(err.Error())
		return no
	}
	v.principal = who
	return nil
}
