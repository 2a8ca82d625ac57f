// Package strict reads the manifests of sweep/kubernetes by Kubernetes' own types,
// in a module of its own so that users of utvi do not carry them.
package strict

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// read is strict as the API server is: unknown and repeated fields are errors, and
// letters have a case.
func read(doc []byte, object any) error {
	b, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return err
	}
	wrong, err := json.UnmarshalStrict(b, object)
	return errors.Join(append(wrong, err)...)
}

// objects reads the documents of a manifest.
func objects(manifest []byte) (jobs []*batch.Job, maps []*core.ConfigMap, err error) {
	for doc := range bytes.SplitSeq(manifest, []byte("\n---\n")) {
		if bytes.Contains(doc, []byte("kind: ConfigMap")) {
			m := &core.ConfigMap{}
			if err := read(doc, m); err != nil {
				return nil, nil, err
			}
			maps = append(maps, m)
			continue
		}
		j := &batch.Job{}
		if err := read(doc, j); err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, maps, nil
}

func manifests(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("manifests: %v, %v", files, err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = b
	}
	return all
}

func TestManifests(t *testing.T) {
	for name, b := range manifests(t) {
		jobs, maps, err := objects(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, j := range jobs {
			s := j.Spec
			if j.APIVersion != "batch/v1" || j.Kind != "Job" || s.CompletionMode == nil || *s.CompletionMode != batch.IndexedCompletion ||
				s.Completions == nil || s.Parallelism == nil || *s.Parallelism > *s.Completions || s.BackoffLimitPerIndex == nil {
				t.Errorf("%s: %+v", name, s)
			}
			// Exit statuses reach the policy only if the kubelet restarts nothing.
			if s.Template.Spec.RestartPolicy != core.RestartPolicyNever || len(s.PodFailurePolicy.Rules) != 3 {
				t.Errorf("%s: %+v", name, s.PodFailurePolicy)
			}
			c := s.Template.Spec.Containers[0]
			if c.Resources.Requests.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero() || len(c.Args) != 7 {
				t.Errorf("%s: %+v", name, c)
			}
			mounted := map[string]bool{}
			for _, v := range s.Template.Spec.Volumes {
				mounted[v.Name] = v.PersistentVolumeClaim != nil || v.ConfigMap != nil && v.ConfigMap.Name == maps[0].Name
			}
			for _, m := range c.VolumeMounts {
				if !mounted[m.Name] {
					t.Errorf("%s: no volume for %s", name, m.Name)
				}
			}
		}
	}
	if jobs, maps, _ := objects(manifests(t)["small.yaml"]); len(jobs) != 1 || len(maps) != 1 || !strings.HasPrefix(maps[0].Data["plan.json"], `{"format": 1`) {
		t.Errorf("%d jobs and %v", len(jobs), maps)
	}
}

// What is wrong is seen: a field that does not exist, a type, a quantity.
func TestStrict(t *testing.T) {
	good := string(manifests(t)["small.yaml"])
	for old, bad := range map[string]string{
		"backoffLimitPerIndex: 3":                         "backoffLimitByIndex: 3",
		"completions: 12":                                 "completions: twelve",
		"cpu: \"2\"":                                      "cpu: two",
		"claimName: results":                              "claim: results",
		"restartPolicy: Never":                            "restartPolicy: Never\n      restartPolicy: Never",
		"              readOnly: true":                    "              readonly: true",
		"readOnlyRootFilesystem: true\n            capab": "readOnlyRootFS: true\n            capab",
	} {
		spoiled := strings.Replace(good, old, bad, 1)
		if spoiled == good {
			t.Fatalf("there is no %q", old)
		}
		if _, _, err := objects([]byte(spoiled)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
