package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const chart = "helm/stopgate"

var cluster = chartutil.KubeVersion{Version: "v1.31.0", Major: "1", Minor: "31"}

// values reads values as YAML.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// render returns the manifests of the chart, decoded strictly: an unknown or misspelt field is an
// error.
func render(t *testing.T, text string) (objects []any, err error) {
	t.Helper()
	c, err := loader.LoadDir(chart)
	if err != nil {
		t.Fatal(err)
	}
	caps := *chartutil.DefaultCapabilities
	caps.KubeVersion = cluster
	all, err := chartutil.ToRenderValues(c, values(t, text), chartutil.ReleaseOptions{Name: "gate", Namespace: "agents"}, &caps)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	for name, file := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, part := range strings.Split(file, "\n---\n") {
			if strings.TrimSpace(part) != "" {
				objects = append(objects, decode(t, name, part))
			}
		}
	}
	return objects, nil
}

// decode reads one manifest.
func decode(t *testing.T, name, text string) any {
	t.Helper()
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	var object any
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		object = new(appsv1.Deployment)
	case "v1 Service":
		object = new(corev1.Service)
	case "v1 ConfigMap":
		object = new(corev1.ConfigMap)
	case "v1 Pod":
		object = new(corev1.Pod)
	case "policy/v1 PodDisruptionBudget":
		object = new(policyv1.PodDisruptionBudget)
	case "networking.k8s.io/v1 NetworkPolicy":
		object = new(networkingv1.NetworkPolicy)
	default:
		t.Fatalf("%s: a manifest of kind %q of %q", name, kind.Kind, kind.APIVersion)
	}
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return object
}

// the returns the one object of a type.
func the[T any](t *testing.T, objects []any) (found T) {
	t.Helper()
	n := 0
	for _, o := range objects {
		if o, ok := o.(T); ok {
			found, n = o, n+1
		}
	}
	if n != 1 {
		t.Fatalf("%d objects of type %T", n, found)
	}
	return found
}

func policyOf(t *testing.T, objects []any) string {
	t.Helper()
	return the[*corev1.ConfigMap](t, objects).Data["stopgate.toml"]
}

const (
	shared  = "store: { url: 'postgres://gate@db:5432/stopgate?sslmode=verify-full', passwordSecret: { name: db }, caConfigMap: { name: db-ca } }"
	sidecar = "mode: sidecar\nagent: { name: coder, image: 'registry.example.com/coder:1', args: [run], env: [{ name: A, value: b }] }"
)

func TestLint(t *testing.T) {
	for mode, text := range map[string]string{"shared": shared, "shared with TLS": shared + "\ntls: { secret: gate-tls }", "sidecar": sidecar} {
		for _, m := range lint.AllWithKubeVersion(chart, values(t, text), "agents", &cluster).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %v", mode, m)
			}
		}
	}
}

// secure checks a gate's container: no root, no privileges, no writable file but its state.
func secure(t *testing.T, c corev1.Container) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || *s.RunAsUser == 0 || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation ||
		len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) > 0 || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context %+v", s)
	}
	for _, m := range c.VolumeMounts {
		if writable := !m.ReadOnly; writable != (m.Name == "state") {
			t.Errorf("volume %s: writable %v", m.Name, writable)
		}
	}
	if c.ReadinessProbe == nil || c.LivenessProbe == nil || c.Image != "stopgate:0.1.0" {
		t.Errorf("image %s, probes %v %v", c.Image, c.ReadinessProbe, c.LivenessProbe)
	}
}

func TestShared(t *testing.T) {
	objects, err := render(t, shared)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 5 {
		t.Errorf("%d objects", len(objects))
	}
	d := the[*appsv1.Deployment](t, objects)
	pod := d.Spec.Template.Spec
	if *d.Spec.Replicas != 3 || len(pod.Containers) != 1 || len(pod.InitContainers) > 0 || pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Errorf("%+v", d.Spec)
	}
	gate := pod.Containers[0]
	secure(t, gate)
	if !strings.Contains(strings.Join(gate.Args, " "), "--listen=0.0.0.0:8788") || gate.ReadinessProbe.HTTPGet.Path != "/readyz" || gate.LivenessProbe.HTTPGet.Path != "/healthz" {
		t.Errorf("%v, probes %v %v", gate.Args, gate.ReadinessProbe, gate.LivenessProbe)
	}
	for _, name := range []string{"gate", "gate.agents", "gate.agents.svc", "gate.agents.svc.cluster.local"} { // those of the service
		if !slices.Contains(gate.Args, "--host="+name) {
			t.Errorf("clients that use the name %s are refused: %v", name, gate.Args)
		}
	}
	secrets := map[string]string{}
	for _, e := range gate.Env {
		if e.Value != "" {
			t.Errorf("%s: a value in the manifest", e.Name)
		}
		secrets[e.Name] = e.ValueFrom.SecretKeyRef.Name
	}
	if secrets["PGPASSWORD"] != "db" || secrets["STOPGATE_TOKEN"] != "stopgate" || len(secrets) != 4 {
		t.Error(secrets)
	}
	if grace := *pod.TerminationGracePeriodSeconds; grace <= 30 {
		t.Errorf("%d seconds for draining", grace)
	}
	labels := d.Spec.Template.Labels
	selected := func(kind string, selector map[string]string) {
		for k, v := range selector {
			if labels[k] != v || len(selector) == 0 {
				t.Errorf("%s selects %v of %v", kind, selector, labels)
			}
		}
	}
	selected("the service", the[*corev1.Service](t, objects).Spec.Selector)
	budget := the[*policyv1.PodDisruptionBudget](t, objects)
	selected("the budget", budget.Spec.Selector.MatchLabels)
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("%+v", budget.Spec)
	}
	network := the[*networkingv1.NetworkPolicy](t, objects)
	selected("the network policy", network.Spec.PodSelector.MatchLabels)
	if len(network.Spec.PolicyTypes) != 2 || len(network.Spec.Ingress) != 1 || len(network.Spec.Ingress[0].From) != 1 || len(network.Spec.Egress) != 3 {
		t.Errorf("%+v", network.Spec)
	}
	if text := policyOf(t, objects); !strings.Contains(text, `url = "postgres://gate@db:5432/stopgate?sslmode=verify-full"`) {
		t.Error(text)
	}
}

// Where clients need certificates probes need none: they ask the gate on its socket.
func TestTLS(t *testing.T) {
	objects, err := render(t, shared+"\ntls: { secret: gate-tls }")
	if err != nil {
		t.Fatal(err)
	}
	pod := the[*appsv1.Deployment](t, objects).Spec.Template.Spec
	gate := pod.Containers[0]
	secure(t, gate)
	_, socket, _ := strings.Cut(policyOf(t, objects), "socket = ")
	for name, probe := range map[string]*corev1.Probe{"ready": gate.ReadinessProbe, "alive": gate.LivenessProbe} {
		if probe.HTTPGet != nil || probe.Exec == nil {
			t.Fatalf("%s: %+v", name, probe)
		}
		last := probe.Exec.Command[len(probe.Exec.Command)-1]
		if !strings.HasPrefix(socket, `"`+strings.TrimPrefix(last, "unix:")+`"`) {
			t.Errorf("%s asks %s, the gate listens on %s", name, last, socket)
		}
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil && v.Secret.SecretName == "gate-tls" && *v.Secret.DefaultMode == 0o440 {
			return
		}
	}
	t.Errorf("the certificate is not mounted: %+v", pod.Volumes)
}

func TestSidecar(t *testing.T) {
	objects, err := render(t, sidecar)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 3 {
		t.Errorf("%d objects", len(objects))
	}
	pod := the[*appsv1.Deployment](t, objects).Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 1 {
		t.Fatalf("%+v", pod)
	}
	gate, agent := pod.InitContainers[0], pod.Containers[0]
	secure(t, gate)
	if gate.RestartPolicy == nil || *gate.RestartPolicy != corev1.ContainerRestartPolicyAlways || gate.StartupProbe == nil || !strings.Contains(strings.Join(gate.Args, " "), "--listen=127.0.0.1:8788") {
		t.Errorf("%+v", gate)
	}
	env := map[string]corev1.EnvVar{}
	for _, e := range agent.Env {
		env[e.Name] = e
	}
	if agent.Name != "coder" || env["OPENAI_BASE_URL"].Value != "http://127.0.0.1:8788/v1" || env["A"].Value != "b" || env["ANTHROPIC_API_KEY"].ValueFrom.SecretKeyRef.Name != "stopgate" {
		t.Errorf("%+v", agent)
	}
	if network := the[*networkingv1.NetworkPolicy](t, objects); len(network.Spec.Ingress) > 0 || len(network.Spec.Egress) != 2 {
		t.Errorf("%+v", network.Spec)
	}
	if text := policyOf(t, objects); !strings.Contains(text, "sqlite:/var/lib/stopgate/") {
		t.Error(text)
	}
}

// Values that cannot work are refused before anything is installed.
func TestRefusedValues(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                         "store.url is required",
		"mode: sidecar":                              "agent.image is required",
		"mode: both\n" + shared:                      "mode",
		"store: { url: 'postgres://u:p@db/x' }":      "url",
		"store: { url: 'sqlite:/x' }":                "url",
		"replicas: 0\n" + shared:                     "replicas",
		"replica: 3\n" + shared:                      "replica",
		"image: { digest: 'sha256:12' }\n" + shared:  "digest",
		"secrets: [{ variable: A }]\n" + shared:      "secrets",
		"service: { port: 0 }\n" + shared:            "port",
		"networkPolicy: { enabled: yes, egress: 1 }": "egress",
	} {
		if _, err := render(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The pod of the page is what Kubernetes reads.
func TestPod(t *testing.T) {
	text, err := os.ReadFile("sidecar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, "sidecar.yaml", string(text))
}
