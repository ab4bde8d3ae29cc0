package otel_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/internal/testkit/authority"
)

// export sends one span with options, and returns the error of the export.
func export(t *testing.T, o otel.Options) error {
	t.Helper()
	var failed error
	o.Failed = func(err error) { failed = err }
	x := open(t, o)
	x.Trace(t.Context(), gate.TraceEvent{Name: gate.TraceTool, Row: &stopgate.Record{Tool: "t"}})
	closed(t, x)
	return failed
}

// The environment of OpenTelemetry names the collector, headers and roots; the variable of the
// signal and options have precedence.
func TestCollectorOfEnvironment(t *testing.T) {
	var got []string
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path, r.Header.Get("X-Key"), r.Header.Get("Y"))
	})
	plain := httptest.NewServer(handler)
	defer plain.Close()
	secure := httptest.NewTLSServer(handler)
	defer secure.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	const all, signal = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"
	for _, c := range []struct {
		name string
		env  []string
		o    otel.Options
		want []string // path and headers
	}{
		{"base", []string{all + "ENDPOINT=" + plain.URL}, otel.Options{}, []string{"/v1/traces", "", ""}},
		{"base with a path", []string{all + "ENDPOINT=" + plain.URL + "/otlp/"}, otel.Options{}, []string{"/otlp/v1/traces", "", ""}},
		{"of the signal", []string{signal + "ENDPOINT=" + plain.URL, all + "ENDPOINT=http://127.0.0.1:1"}, otel.Options{}, []string{"/", "", ""}},
		{"of the signal with a path", []string{signal + "ENDPOINT=" + plain.URL + "/spans"}, otel.Options{}, []string{"/spans", "", ""}},
		{"headers", []string{all + "ENDPOINT=" + plain.URL, all + "HEADERS=x-key=a%20b,y=z"}, otel.Options{}, []string{"/v1/traces", "a b", "z"}},
		{"headers of the signal", []string{all + "ENDPOINT=" + plain.URL, all + "HEADERS=x-key=a", signal + "HEADERS=y=z"}, otel.Options{}, []string{"/v1/traces", "", "z"}},
		{"options", []string{all + "ENDPOINT=http://127.0.0.1:1", all + "HEADERS=x-key=a"},
			otel.Options{Endpoint: plain.URL, Headers: map[string]string{"y": "b"}}, []string{"/v1/traces", "", "b"}},
		{"roots", []string{all + "ENDPOINT=" + secure.URL, all + "CERTIFICATE=" + roots}, otel.Options{}, []string{"/v1/traces", "", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got = nil
			for _, set := range c.env {
				name, value, _ := strings.Cut(set, "=")
				t.Setenv(name, value)
			}
			if err := export(t, c.o); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("unknown roots", func(t *testing.T) {
		if err := export(t, otel.Options{Endpoint: secure.URL}); err == nil {
			t.Error("an unknown certificate was accepted")
		}
	})
	for _, set := range []string{"ENDPOINT=collector:4318", "ENDPOINT=ftp://h", "HEADERS=x", "CERTIFICATE=" + roots + "x", "CERTIFICATE=/dev/null", "CERTIFICATE=" + roots} {
		t.Run(set, func(t *testing.T) {
			name, value, _ := strings.Cut(set, "=")
			t.Setenv(all+name, value)
			o := otel.Options{}
			if name == "CERTIFICATE" {
				o.Endpoint = plain.URL // to which no certificate belongs
			}
			if _, err := otel.Open(t.Context(), o); err == nil {
				t.Error("accepted")
			}
		})
	}
}

// A client certificate of the environment is sent.
func TestCollectorWithClientCertificate(t *testing.T) {
	dir := t.TempDir()
	pair := authority.New(t).Workload(t, "", nil)
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	count := -1
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { count = len(r.TLS.PeerCertificates) }))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	for name, block := range map[string]*pem.Block{
		"CERTIFICATE":        {Type: "CERTIFICATE", Bytes: server.Certificate().Raw},
		"CLIENT_CERTIFICATE": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		"CLIENT_KEY":         {Type: "PRIVATE KEY", Bytes: private},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, file)
	}
	if err := export(t, otel.Options{Endpoint: server.URL}); err != nil || count != 1 {
		t.Errorf("%v, %d certificates", err, count)
	}
}

// An answer that reports rejected spans, or that is no message, is a failed export.
func TestCollectorRejects(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *collector.ExportTraceServiceResponse
		text string
		want string // "" for success
	}{
		{name: "empty", r: &collector.ExportTraceServiceResponse{}},
		{name: "full success", r: &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{}}},
		{name: "rejected", r: &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"}}, want: "rejected 3 spans: too old"},
		{name: "warning", r: &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{ErrorMessage: "soon"}}, want: "soon"},
		{name: "no message", text: "\x0a\xff", want: "read the answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []byte(c.text)
			if c.r != nil {
				var err error
				if text, err = proto.Marshal(c.r); err != nil {
					t.Fatal(err)
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/x-protobuf")
				_, _ = w.Write(text)
			}))
			defer server.Close()
			err := export(t, otel.Options{Endpoint: server.URL})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
