package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed blackbox/*.yaml
var blackboxFiles embed.FS

// Case is a cluster, pods that ask, and what becomes of them; blackbox/README.md has the words.
type Case struct {
	Name    string
	Nodes   map[string]CaseNode
	Objects []map[string]any
	Pods    []CasePod
	Then    []CaseStep
}

type CaseNode struct {
	CPU, Zone      string
	Labels, Has    map[string]string
	Taints, Images []any
	Unschedulable  bool
}

type CasePod struct {
	Name, Namespace, At, CPU, Class, Group, Scheduler string
	Labels, Requests                                  map[string]string
	Spec, Container                                   map[string]any
	NodeAffinity, Affinity, AntiAffinity              []any
	Spread                                            []map[string]any
	Claims                                            []string
	Finalizer, Leaving, Older                         bool
	Is                                                Verdict
}

type CaseStep struct {
	Nodes         map[string]CaseNode
	Delete        []string
	Patch, Status map[string]map[string]any
	Objects       []map[string]any
	Pods          []CasePod
	Now           map[string]Verdict
}

// Verdict is what becomes of a pod, with either scheduler.
type Verdict struct{ Kube, Makeway string }

func (v *Verdict) UnmarshalJSON(text []byte) error {
	var both string
	if json.Unmarshal(text, &both) == nil {
		v.Kube, v.Makeway = both, both
		return nil
	}
	type plain Verdict // Without this method.
	return json.Unmarshal(text, (*plain)(v))
}

// of a side; a bound pod stays where nothing is said.
func (v Verdict) of(side string) string {
	word := v.Makeway
	if side == "kube" {
		word = v.Kube
	}
	if word == "" {
		return "stays"
	}
	return word
}

// differs: the two schedulers decide differently, and docs/kubernetes.md must say why.
func (c Case) differs() bool {
	for _, pod := range c.Pods {
		if pod.Is.Kube != pod.Is.Makeway {
			return true
		}
	}
	for _, step := range c.Then {
		for _, verdict := range step.Now {
			if verdict.Kube != verdict.Makeway {
				return true
			}
		}
	}
	return false
}

// blackboxCases gives every case once for each pool name that named makes of its number.
func (t *T) blackboxCases(named func(number int) string) []Case {
	files, err := fs.Glob(blackboxFiles, "blackbox/*.yaml")
	t.must(err, "cases")
	var cases []Case
	for _, file := range files {
		text, err := blackboxFiles.ReadFile(file)
		t.must(err, file)
		var raw []json.RawMessage
		t.must(yaml.Unmarshal(text, &raw), file)
		for _, each := range raw {
			own := strings.ReplaceAll(string(each), "$POOL", named(len(cases)))
			var one Case
			t.must(yaml.UnmarshalStrict([]byte(own), &one), file)
			cases = append(cases, one)
		}
	}
	return cases
}

func (n CaseNode) object(pool, name string) map[string]any {
	full := pool + "-" + name
	labels := map[string]any{"pool": pool, "kubernetes.io/hostname": full}
	if n.Zone != "" {
		labels["topology.kubernetes.io/zone"] = pool + "-" + n.Zone
	}
	for key, value := range n.Labels {
		labels[key] = value
	}
	room := map[string]any{"cpu": "2", "memory": "8Gi", "pods": "110"}
	if n.CPU != "" {
		room["cpu"] = n.CPU
	}
	for key, value := range n.Has {
		room[key] = value
	}
	spec := map[string]any{"unschedulable": n.Unschedulable}
	if len(n.Taints) > 0 {
		spec["taints"] = n.Taints
	}
	status := map[string]any{"capacity": room, "allocatable": room}
	if len(n.Images) > 0 {
		status["images"] = n.Images
	}
	return map[string]any{"apiVersion": "v1", "kind": "Node", "spec": spec, "status": status,
		"metadata": map[string]any{"name": full, "labels": labels}}
}

// object of a pod that can go nowhere but to the nodes of its pool.
func (p CasePod) object(pool, scheduler string) map[string]any {
	labels := map[string]any{"blackbox": "pod"}
	for key, value := range p.Labels {
		labels[key] = value
	}
	metadata := map[string]any{"name": p.Name, "namespace": p.namespace(pool), "labels": labels}
	if p.Finalizer {
		metadata["finalizers"] = []any{"e2e.makeway.dev/hold"}
	}
	requests := map[string]any{}
	for key, value := range p.Requests {
		requests[key] = value
	}
	if p.CPU != "" {
		requests["cpu"] = p.CPU
	}
	container := map[string]any{"name": "c", "image": "i",
		"resources": map[string]any{"requests": requests}}
	for key, value := range p.Container {
		container[key] = value
	}
	spec := map[string]any{"schedulerName": scheduler, "containers": []any{container},
		"terminationGracePeriodSeconds": int64(1)}
	for key, value := range p.Spec {
		spec[key] = value
	}
	p.place(pool, spec)
	p.require(spec)
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
}

func (p CasePod) namespace(pool string) string {
	if p.Namespace != "" {
		return p.Namespace
	}
	return pool
}

func (p CasePod) place(pool string, spec map[string]any) {
	selector := map[string]any{"pool": pool}
	if own, given := spec["nodeSelector"].(map[string]any); given {
		for key, value := range own {
			selector[key] = value
		}
	}
	spec["nodeSelector"] = selector
	for key, value := range map[string]string{"schedulerName": p.Scheduler,
		"priorityClassName": className(p.Class)} {
		if value != "" {
			spec[key] = value
		}
	}
	if p.At != "" {
		spec["nodeName"] = pool + "-" + p.At
	}
	if p.Group != "" {
		spec["schedulingGroup"] = map[string]any{"podGroupName": p.Group}
	}
	for i, claim := range p.Claims {
		volumes, _ := spec["volumes"].([]any)
		spec["volumes"] = append(volumes, map[string]any{"name": fmt.Sprintf("v%d", i),
			"persistentVolumeClaim": map[string]any{"claimName": claim}})
	}
}

// require adds the required terms, and the defaults of every spread constraint.
func (p CasePod) require(spec map[string]any) {
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	affinity, _ := spec["affinity"].(map[string]any)
	if affinity == nil {
		affinity = map[string]any{}
	}
	if len(p.NodeAffinity) > 0 {
		affinity["nodeAffinity"] = map[string]any{
			required: map[string]any{"nodeSelectorTerms": p.NodeAffinity}}
	}
	if len(p.Affinity) > 0 {
		affinity["podAffinity"] = map[string]any{required: p.Affinity}
	}
	if len(p.AntiAffinity) > 0 {
		affinity["podAntiAffinity"] = map[string]any{required: p.AntiAffinity}
	}
	if len(affinity) > 0 {
		spec["affinity"] = affinity
	}
	var constraints []any
	for _, given := range p.Spread {
		constraint := map[string]any{"maxSkew": int64(1), "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": map[string]any{"matchLabels": map[string]any{"app": p.Labels["app"]}}}
		for key, value := range given {
			constraint[key] = value
		}
		constraints = append(constraints, constraint)
	}
	if len(constraints) > 0 {
		spec["topologySpreadConstraints"] = constraints
	}
}

func className(class string) string {
	switch class {
	case "low", "mid", "high", "never":
		return "blackbox-" + class
	}
	return class
}
