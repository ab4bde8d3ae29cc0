// Package ociregistry is an OCI registry in memory for tests: uploads in one piece, tags and digests,
// as the distribution specification has them. It accepts everything and forgets it with the test.
package ociregistry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Registry is an [http.Handler]. The zero Registry is empty.
type Registry struct {
	mu    sync.Mutex
	items map[string]item // blobs and manifests by "REPOSITORY DIGEST" and "REPOSITORY TAG"
}

type item struct {
	media string
	data  []byte
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Put stores a manifest under a tag without looking at it.
func (g *Registry) Put(repository, tag, media string, data []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.items == nil {
		g.items = map[string]item{}
	}
	for _, reference := range []string{tag, digest(data)} {
		g.items[repository+" "+reference] = item{media, data}
	}
}

// ServeHTTP implements [http.Handler].
func (g *Registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v2/")
	if path == "" {
		return
	}
	repository, kind, reference := split(path)
	switch {
	case kind == "blobs" && reference == "uploads/" && r.Method == http.MethodPost:
		w.Header().Set("Location", "/v2/"+repository+"/blobs/uploads/1")
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if kind == "blobs" {
			reference = r.URL.Query().Get("digest")
		}
		g.Put(repository, reference, r.Header.Get("Content-Type"), data)
		w.Header().Set("Docker-Content-Digest", digest(data))
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		g.mu.Lock()
		it, ok := g.items[repository+" "+reference]
		g.mu.Unlock()
		if !ok {
			http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", it.media)
		w.Header().Set("Docker-Content-Digest", digest(it.data))
		w.Header().Set("Content-Length", fmt.Sprint(len(it.data)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(it.data)
		}
	default:
		http.Error(w, "not supported", http.StatusMethodNotAllowed)
	}
}

// split cuts REPOSITORY/blobs/REFERENCE or REPOSITORY/manifests/REFERENCE.
func split(path string) (repository, kind, reference string) {
	for _, kind := range []string{"blobs", "manifests"} {
		if before, after, ok := strings.Cut(path, "/"+kind+"/"); ok {
			return before, kind, after
		}
	}
	return path, "", ""
}
