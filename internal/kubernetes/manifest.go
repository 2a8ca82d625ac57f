package kubernetes

// What of the batch/v1 and core/v1 objects is written, named as there. The real
// types, a large dependency, read it strictly in the module under strict.

type object struct {
	Version string `yaml:"apiVersion"`
	Kind    string `yaml:"kind"`
	Meta    meta   `yaml:"metadata"`
}

type meta struct {
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace,omitempty"`
}

type configMap struct {
	object    `yaml:",inline"`
	Immutable bool              `yaml:"immutable"`
	Data      map[string]string `yaml:"data"`
}

type job struct {
	object `yaml:",inline"`
	Spec   jobSpec `yaml:"spec"`
}

type jobSpec struct {
	Mode        string   `yaml:"completionMode"`
	Completions int      `yaml:"completions"`
	Parallelism int      `yaml:"parallelism"`
	Backoff     int      `yaml:"backoffLimitPerIndex"`
	Failures    policy   `yaml:"podFailurePolicy"`
	Template    template `yaml:"template"`
}

type policy struct {
	Rules []rule `yaml:"rules"`
}

type rule struct {
	Action     string      `yaml:"action"`
	Codes      *exitCodes  `yaml:"onExitCodes,omitempty"`
	Conditions []condition `yaml:"onPodConditions,omitempty"`
}

type exitCodes struct {
	Container string `yaml:"containerName"`
	Operator  string `yaml:"operator"`
	Values    []int  `yaml:"values"`
}

type condition struct {
	Type   string `yaml:"type"`
	Status string `yaml:"status"`
}

type template struct {
	Spec podSpec `yaml:"spec"`
}

type podSpec struct {
	RestartPolicy string      `yaml:"restartPolicy"`
	Grace         int         `yaml:"terminationGracePeriodSeconds"`
	Token         bool        `yaml:"automountServiceAccountToken"`
	Security      podSecurity `yaml:"securityContext"`
	Containers    []container `yaml:"containers"`
	Volumes       []volume    `yaml:"volumes"`
}

type podSecurity struct {
	NonRoot bool `yaml:"runAsNonRoot"`
	User    int  `yaml:"runAsUser"`
	Group   int  `yaml:"runAsGroup"`
	FSGroup int  `yaml:"fsGroup"`
}

type container struct {
	Name      string    `yaml:"name"`
	Image     string    `yaml:"image"`
	Args      []string  `yaml:"args"`
	Resources resources `yaml:"resources"`
	Mounts    []mount   `yaml:"volumeMounts"`
	Security  security  `yaml:"securityContext"`
}

type resources struct {
	Requests map[string]string `yaml:"requests"`
	Limits   map[string]string `yaml:"limits"`
}

type security struct {
	Escalation   bool         `yaml:"allowPrivilegeEscalation"`
	ReadOnlyRoot bool         `yaml:"readOnlyRootFilesystem"`
	Capabilities capabilities `yaml:"capabilities"`
}

type capabilities struct {
	Drop []string `yaml:"drop"`
}

type mount struct {
	Name     string `yaml:"name"`
	Path     string `yaml:"mountPath"`
	ReadOnly bool   `yaml:"readOnly,omitempty"`
}

type volume struct {
	Name      string `yaml:"name"`
	Claim     *claim `yaml:"persistentVolumeClaim,omitempty"`
	ConfigMap *named `yaml:"configMap,omitempty"`
}

type claim struct {
	Name string `yaml:"claimName"`
}

type named struct {
	Name string `yaml:"name"`
}
