package channel_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/bundle/channel"
	"github.com/stopgate/stopgate/internal/testkit/ociregistry"
)

// server is a web server with ETags to which files can be put.
type server struct {
	mu    sync.Mutex
	files map[string][]byte
	etags bool
	log   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodPut {
		s.files[r.URL.Path], _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		return
	}
	data, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(data)))
	status := http.StatusOK
	if s.etags {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			status = http.StatusNotModified
		}
	}
	s.log = append(s.log, fmt.Sprint(r.URL.Path, " ", status))
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = w.Write(data)
	}
}

func open(t *testing.T, url string) channel.Channel {
	t.Helper()
	c, err := channel.Open(url, channel.Options{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if c.String() != url {
		t.Errorf("%s is %s", url, c)
	}
	return c
}

// Every kind of channel behaves alike.
func TestChannels(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	plain := httptest.NewServer(&server{files: map[string][]byte{}})
	defer plain.Close()
	tagged := httptest.NewServer(&server{files: map[string][]byte{}, etags: true})
	defer tagged.Close()
	registry := httptest.NewServer(&ociregistry.Registry{})
	defer registry.Close()
	for name, url := range map[string]string{
		"file":                "file:" + filepath.Join(t.TempDir(), "policies", "prod"),
		"web":                 plain.URL + "/prod",
		"web with ETags":      tagged.URL + "/prod",
		"registry":            "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/team/policies:prod",
		"registry, other tag": "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/team/policies:canary",
	} {
		t.Run(name, func(t *testing.T) { testChannel(t, open(t, url)) })
	}
}

func testChannel(t *testing.T, c channel.Channel) {
	ctx := context.Background()
	if _, err := c.Fetch(ctx, ""); !errors.Is(err, bundle.ErrNone) {
		t.Fatalf("an empty channel: %v", err)
	}
	one := bundle.Signed{Archive: []byte("archive 1"), Signature: []byte("signature 1")}
	two := bundle.Signed{Archive: []byte("archive 2"), Signature: []byte("signature 2")}
	if err := c.Push(ctx, 1, one); err != nil {
		t.Fatal(err)
	}
	first, err := c.Fetch(ctx, "")
	if err != nil || string(first.Archive) != "archive 1" || string(first.Signature) != "signature 1" || first.Tag == "" {
		t.Fatalf("%+v %v", first, err)
	}
	if _, err := c.Fetch(ctx, first.Tag); !errors.Is(err, bundle.ErrUnchanged) {
		t.Errorf("the same again: %v", err)
	}
	if err := c.Push(ctx, 2, two); err != nil {
		t.Fatal(err)
	}
	second, err := c.Fetch(ctx, first.Tag)
	if err != nil || string(second.Archive) != "archive 2" || string(second.Signature) != "signature 2" || second.Tag == first.Tag {
		t.Fatalf("%+v %v", second, err)
	}
	if earlier, err := c.Generation(ctx, 1); err != nil || string(earlier.Archive) != "archive 1" || string(earlier.Signature) != "signature 1" {
		t.Errorf("%+v %v", earlier, err)
	}
	if _, err := c.Generation(ctx, 3); !errors.Is(err, bundle.ErrNone) {
		t.Errorf("a generation that never was: %v", err)
	}
}

// With ETags a poll of an unchanged channel transfers nothing.
func TestConditionalRequests(t *testing.T) {
	s := &server{files: map[string][]byte{"/prod": []byte("a"), "/prod.minisig": []byte("s")}, etags: true}
	web := httptest.NewServer(s)
	defer web.Close()
	c := open(t, web.URL+"/prod")
	got, err := c.Fetch(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(context.Background(), got.Tag); !errors.Is(err, bundle.ErrUnchanged) {
		t.Error(err)
	}
	if got := strings.Join(s.log, "\n"); got != "/prod.minisig 200\n/prod 200\n/prod.minisig 304" {
		t.Error(got)
	}
}

// zeros is an endless body.
type zeros struct{ read int64 }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += int64(len(p))
	return len(p), nil
}

// What a server sends is read up to the limit: a gibibyte of zeros, with its length, without it, or
// compressed, costs no more than the largest bundle.
func TestBoundedReads(t *testing.T) {
	const gibibyte = 1 << 30
	for _, c := range []struct {
		name   string
		header http.Header
	}{
		{"with a length", http.Header{"Content-Length": {fmt.Sprint(gibibyte)}}},
		{"without a length", nil},
		{"compressed", http.Header{"Content-Encoding": {"gzip"}}},
	} {
		for _, long := range []string{"/prod", "/prod.minisig"} {
			body := &zeros{}
			round := roundTripper(func(r *http.Request) (*http.Response, error) {
				resp := &http.Response{StatusCode: 200, Status: "200 OK", Header: c.header, ContentLength: -1, Body: io.NopCloser(strings.NewReader("x"))}
				if r.URL.Path == long {
					resp.Body = io.NopCloser(io.LimitReader(body, gibibyte))
					if c.header.Get("Content-Length") != "" {
						resp.ContentLength = gibibyte
					}
				}
				return resp, nil
			})
			w, err := channel.Open("https://host/prod", channel.Options{Transport: round})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Fetch(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%s, %s: %v", c.name, long, err)
			}
			if body.read > 3*bundle.MaxArchive {
				t.Errorf("%s, %s: %d bytes were read", c.name, long, body.read)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "prod")
	for _, name := range []string{path, path + ".minisig"} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(gibibyte), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, "file:"+path).Fetch(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("file: %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A registry may hold another artifact under the tag, or state sizes that are not true.
func TestRegistryWithOtherArtifacts(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var registry ociregistry.Registry
	web := httptest.NewServer(&registry)
	defer web.Close()
	c := open(t, "oci://"+strings.TrimPrefix(web.URL, "http://")+"/p:prod")
	const media = "application/vnd.oci.image.manifest.v1+json"
	layer := func(kind string, size int) string {
		return fmt.Sprintf(`{"mediaType":"application/vnd.stopgate.bundle.%s","digest":"sha256:%064d","size":%d}`, kind, 0, size)
	}
	for name, text := range map[string]string{
		"image":       `{"schemaVersion":2,"layers":[]}`,
		"no JSON":     `x`,
		"one layer":   `{"artifactType":"application/vnd.stopgate.bundle.v1","layers":[` + layer("archive.v1.tar", 1) + `]}`,
		"huge layer":  `{"artifactType":"application/vnd.stopgate.bundle.v1","layers":[` + layer("archive.v1.tar", 1<<30) + "," + layer("signature.v1", 1) + `]}`,
		"absent blob": `{"artifactType":"application/vnd.stopgate.bundle.v1","layers":[` + layer("archive.v1.tar", 1) + "," + layer("signature.v1", 1) + `]}`,
		"huge":        `{"schemaVersion":2,"x":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		registry.Put("p", "prod", media, []byte(text))
		if s, err := c.Fetch(context.Background(), ""); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestURLs(t *testing.T) {
	for _, url := range []string{
		"", "prod", "file:", "file:/d/", "file://host/prod", "https://host", "https://host/", "https:///prod", "https://u:p@host/prod", "https://host/prod?x=1",
		"https://host/prod#x", "oci://host/p", "oci://host/p@sha256:" + strings.Repeat("0", 64), "oci:host/p:t", "oci://host/P:t", "ftp://host/prod", "git+ssh://host/prod", "%zz:",
	} {
		if c, err := channel.Open(url, channel.Options{}); err == nil {
			t.Errorf("%q is %s", url, c)
		} else if strings.Contains(err.Error(), ":p@") {
			t.Errorf("the error has the password: %v", err)
		}
	}
}

// A pipe or a directory in the place of a bundle is an error at once.
func TestFilesThatBlock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "prod.minisig"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "file:"+filepath.Join(dir, "prod")).Fetch(context.Background(), ""); err == nil || errors.Is(err, bundle.ErrNone) {
		t.Error(err)
	}
}
