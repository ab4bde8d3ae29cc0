package otel

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
)

// endpoint is the address of a collector and the credentials for it.
type endpoint struct {
	url     string
	headers map[string]string
	tls     *tls.Config // nil: the roots of the system and no certificate
}

// tracesPath is the path of spans below the base URL of a collector.
const tracesPath = "/v1/traces"

// openEndpoint returns the endpoint of options, completed by the environment of OpenTelemetry:
// OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, and
// the same for the signal, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and so on, which have precedence.
func openEndpoint(o Options) (e endpoint, err error) {
	if e.url, err = address(o.Endpoint); err != nil {
		return e, err
	}
	if e.headers = o.Headers; len(e.headers) == 0 {
		if name, text := environment("HEADERS"); text != "" {
			if e.headers, err = ParseHeaders(text); err != nil {
				return e, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if e.tls, err = credentials(); err == nil && e.tls != nil && strings.HasPrefix(e.url, "http:") {
		err = errors.New("a certificate is set for a collector without TLS")
	}
	return e, err
}

// environment returns the variable of the signal, or that for all signals if it is empty.
func environment(name string) (variable, value string) {
	for _, variable = range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value = strings.TrimSpace(os.Getenv(variable)); value != "" {
			break
		}
	}
	return variable, value
}

// address returns the URL that spans are sent to. A base URL and the variable for all signals get
// the path of spans; the variable of the signal is used as it is.
func address(base string) (string, error) {
	if base != "" {
		return base + tracesPath, nil
	}
	name, text := environment("ENDPOINT")
	if text == "" {
		return "http://localhost:4318" + tracesPath, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s is not an http or https URL", name)
	}
	switch {
	case name == "OTEL_EXPORTER_OTLP_ENDPOINT":
		u.Path = path.Join("/", u.Path, tracesPath)
	case u.Path == "":
		u.Path = "/"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), nil
}

// credentials returns the roots and the client certificate that the environment names, nil for none.
func credentials() (*tls.Config, error) {
	var c tls.Config
	name, file := environment("CERTIFICATE")
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate", name, file)
		}
	}
	name, certificate := environment("CLIENT_CERTIFICATE")
	_, key := environment("CLIENT_KEY")
	if certificate != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if c.RootCAs == nil && c.Certificates == nil {
		return nil, nil
	}
	return &c, nil
}
