package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/ociregistry"
)

// Proves S70, S71: a gate follows a tag of an OCI registry: what is pushed comes into force, a roll-back too; another
// artifact under the tag is refused; without the registry the last good bundle is in force after a restart.
func TestFleetFollowsARegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	var registry ociregistry.Registry
	var down atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		registry.ServeHTTP(w, r)
	}))
	defer web.Close()
	op := newFleetOperator(t, "oci://"+strings.TrimPrefix(web.URL, "http://")+"/team/policies:prod")
	op.release("generation one")
	dir := t.TempDir()
	numbers := freePort(t)
	gateFile(t, dir, op.url, "[telemetry]\nmetrics = \""+numbers+"\"\n")
	s := startUp(t, dir, "--policy", "gate.toml")
	if !s.denies(t, "generation one")() {
		t.Fatal("the first bundle is not in force")
	}
	op.release("generation two")
	until(t, "generation two", s.denies(t, "generation two"))
	if text := op.run("rollback", op.url, "--key", "fleet.key"); !strings.Contains(text, "generation 3") {
		t.Error(text)
	}
	until(t, "the rules of generation one again", s.denies(t, "generation one"))

	const media = "application/vnd.oci.image.manifest.v1+json"
	_, good, _ := strings.Cut(get(t, web.URL+"/v2/team/policies/manifests/prod"), "200 OK ")
	registry.Put("team/policies", "prod", media, []byte(`{"schemaVersion":2,"layers":[]}`))
	until(t, "another artifact shows in the metrics", func() bool {
		return strings.Contains(get(t, "http://"+numbers+"/metrics"), "\nstopgate_bundle_refused 1\n")
	})
	if !s.denies(t, "generation one")() {
		t.Error("generation 3 is not in force any more")
	}
	down.Store(true)
	s.stop(t)
	if log := s.stderr.String(); !strings.Contains(log, "prod is no policy bundle") {
		t.Errorf("the log does not show it:\n%s", log)
	}
	s = startUp(t, dir, "--policy", "gate.toml")
	if !s.denies(t, "generation one")() {
		t.Error("the last good bundle is not in force after a restart without the registry")
	}
	down.Store(false)
	registry.Put("team/policies", "prod", media, []byte(good))
	op.release("generation four")
	until(t, "generation four", s.denies(t, "generation four"))
}
