package strict

import (
	"bytes"
	"os"
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// The manifest of the server is one of Kubernetes, and its parts fit together.
func TestServe(t *testing.T) {
	text, err := os.ReadFile("../../../docs/serve/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs := bytes.Split(text, []byte("\n---\n"))
	if len(docs) != 3 {
		t.Fatalf("%d documents", len(docs))
	}
	var secret core.Secret
	var deployment apps.Deployment
	var service core.Service
	for i, object := range []any{&secret, &deployment, &service} {
		if err := read(docs[i], object); err != nil {
			t.Fatal(err)
		}
	}
	pod := deployment.Spec.Template
	c := pod.Spec.Containers[0]
	for name, p := range map[string]*core.Probe{"startup": c.StartupProbe, "live": c.LivenessProbe, "ready": c.ReadinessProbe} {
		want := "/v2/health/live"
		if name == "ready" {
			want = "/v2/health/ready"
		}
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != want || p.HTTPGet.Port.String() != "http" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, p := range service.Spec.Ports {
		if !slices.ContainsFunc(c.Ports, func(q core.ContainerPort) bool { return q.Name == p.TargetPort.String() }) {
			t.Errorf("the service names the port %s, which the pod lacks", p.TargetPort.String())
		}
	}
	for name, v := range service.Spec.Selector {
		if pod.Labels[name] != v || deployment.Spec.Selector.MatchLabels[name] != v {
			t.Errorf("the label %s differs", name)
		}
	}
	if secret.StringData["token"] == "" || pod.Spec.Volumes[1].Secret.SecretName != secret.Name {
		t.Error("the token is not that of the secret")
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("the volume %s is missing", m.Name)
		}
	}
}
