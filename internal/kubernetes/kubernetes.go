// Package kubernetes describes a plan to Kubernetes: Indexed Jobs whose indices
// are its trials, and a ConfigMap that holds the plan.
package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Config says what is run and how.
type Config struct {
	Name      string // of the objects; what is no name there is made one
	Namespace string // "": the one that kubectl is set to
	Image     string // with the program as its entry point
	Trials    int
	Parallel  int    // trials at a time
	Retries   int    // of a trial that ends badly
	Claim     string // of the volume for results, mounted at Results
	CPU       string // of a trial, as Kubernetes writes quantities
	Memory    string

	Plan     []byte // put into a ConfigMap, unless
	PlanPath string // it is in the image or the volume already
}

// Results is where the volume is mounted.
const Results = "/results"

const (
	planFolder = "/plan"
	user       = 65532 // nobody in particular, as in the Dockerfile
	grace      = 60    // seconds for a checkpoint
	interrupt  = 75    // the exit status of an interrupted trial
	misused    = 2     // and of a command line that cannot be meant

	// Kubernetes counts retries by index in Jobs of up to this size.
	maxIndices = 10_000
	// A ConfigMap holds 1 MiB with all its names.
	maxPlan = 1_000_000
)

var (
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]*$`)
	claimName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	quantity  = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
	label     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

func (c Config) check() error {
	switch {
	case c.Trials < 1:
		return errors.New("no trials to submit")
	case !imageName.MatchString(c.Image):
		return fmt.Errorf("the image is %q; it must be the name of one, such as utvi:1", c.Image)
	case !claimName.MatchString(c.Claim):
		return fmt.Errorf("the claim of a volume for results is %q; it must be the name of one, in lower case", c.Claim)
	case !quantity.MatchString(c.CPU):
		return fmt.Errorf("--cpu is %q; 2 or 500m would be right", c.CPU)
	case !quantity.MatchString(c.Memory):
		return fmt.Errorf("--memory is %q; 2Gi or 500Mi would be right", c.Memory)
	case c.Namespace != "" && !label.MatchString(c.Namespace):
		return fmt.Errorf("the namespace is %q; it must be the name of one, in lower case", c.Namespace)
	case c.Parallel < 1 || c.Retries < 0:
		return fmt.Errorf("%d trials at a time and %d retries; there must be at least 1 and 0", c.Parallel, c.Retries)
	case c.PlanPath == "" && len(c.Plan) > maxPlan:
		return fmt.Errorf("the plan has %d bytes, too many for a ConfigMap; put it into the volume and say where with --plan-path", len(c.Plan))
	}
	return nil
}

// Write writes the manifest, for kubectl apply.
func (c Config) Write(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	base := dnsName(c.Name) + "-" + sum(c.Plan, c.PlanPath)
	var objects []any
	path := c.PlanPath
	if path == "" {
		path = planFolder + "/plan.json"
		objects = append(objects, configMap{
			object:    object{"v1", "ConfigMap", meta{base, c.Namespace}},
			Immutable: true, Data: map[string]string{"plan.json": string(c.Plan)},
		})
	}
	for offset := 0; offset < c.Trials; offset += maxIndices {
		name := base
		if c.Trials > maxIndices {
			name += "-" + strconv.Itoa(offset/maxIndices)
		}
		objects = append(objects, c.job(name, base, path, offset))
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	for _, o := range objects {
		if err := e.Encode(o); err != nil {
			return err
		}
	}
	return e.Close()
}

func (c Config) job(name, plan, path string, offset int) job {
	trials := min(maxIndices, c.Trials-offset)
	sizes := map[string]string{"cpu": c.CPU, "memory": c.Memory}
	pod := podSpec{
		RestartPolicy: "Never", // so that exit statuses are seen by the Job
		Grace:         grace,
		Token:         false,
		Security:      podSecurity{NonRoot: true, User: user, Group: user, FSGroup: user},
		Containers: []container{{
			Name: "trial", Image: c.Image,
			Args:      []string{"sweep", "trial", path, "--out", Results, "--offset", strconv.Itoa(offset)},
			Resources: resources{Requests: sizes, Limits: sizes},
			Mounts:    []mount{{Name: "results", Path: Results}},
			Security:  security{Escalation: false, ReadOnlyRoot: true, Capabilities: capabilities{Drop: []string{"ALL"}}},
		}},
		Volumes: []volume{{Name: "results", Claim: &claim{Name: c.Claim}}},
	}
	if c.PlanPath == "" {
		pod.Containers[0].Mounts = append(pod.Containers[0].Mounts, mount{Name: "plan", Path: planFolder, ReadOnly: true})
		pod.Volumes = append(pod.Volumes, volume{Name: "plan", ConfigMap: &named{Name: plan}})
	}
	return job{
		object: object{"batch/v1", "Job", meta{name, c.Namespace}},
		Spec: jobSpec{
			Mode: "Indexed", Completions: trials, Parallelism: min(trials, c.Parallel),
			Backoff:  c.Retries,
			Failures: failurePolicy(),
			Template: template{Spec: pod},
		},
	}
}

// failurePolicy: an interrupted trial, or one whose pod was evicted, is started again
// without counting. A trial with an invalid command line is not started again.
func failurePolicy() policy {
	return policy{Rules: []rule{
		{Action: "Ignore", Codes: &exitCodes{Container: "trial", Operator: "In", Values: []int{interrupt}}},
		{Action: "Ignore", Conditions: []condition{{Type: "DisruptionTarget", Status: "True"}}},
		{Action: "FailIndex", Codes: &exitCodes{Container: "trial", Operator: "In", Values: []int{misused}}},
	}}
}

// dnsName makes a name of what may be none. A pod's host name is the Job's name
// with its index, 63 characters in all.
func dnsName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, s)
	s = strings.Trim("utvi-"+s, "-")
	if len(s) > 40 {
		s = strings.Trim(s[:40], "-")
	}
	return s
}

// sum tells plans of one name apart.
func sum(plan []byte, path string) string {
	h := sha256.New()
	h.Write(plan)
	io.WriteString(h, "\x00"+path)
	return hex.EncodeToString(h.Sum(nil)[:4])
}
