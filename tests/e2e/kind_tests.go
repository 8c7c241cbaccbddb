package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

func kindTests() []Test {
	return []Test{
		{Name: "kinds: the API server takes deploy/crds, and objects as makeway does", Run: ownKinds},
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// define creates our kinds, or only these, and waits until they are served; the answer removes them
// again: `makeway run` does not begin where some are defined that it does not serve.
func (t *T) define(plurals ...string) (undo func()) {
	paths, err := filepath.Glob("../../deploy/crds/*.yaml")
	t.must(err, "deploy/crds")
	if len(paths) != 6 {
		t.fail("deploy/crds holds %d files", len(paths))
	}
	var names, resources []string
	for _, path := range paths {
		plural, _, _ := strings.Cut(filepath.Base(path), ".")
		if len(plurals) > 0 && !slices.Contains(plurals, plural) {
			continue
		}
		text, err := os.ReadFile(path)
		t.must(err, path)
		t.apply(string(text))
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		resources = append(resources, plural)
	}
	for _, name := range names {
		t.until(30*time.Second, name+" is established", func() (bool, string) {
			object, err := t.plane.Dynamic.Resource(definitions).Get(t.ctx, name, meta.GetOptions{})
			t.must(err, name)
			conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
			established := false
			for _, each := range conditions {
				condition := each.(map[string]any)
				if condition["type"] == "NonStructuralSchema" && condition["status"] == "True" {
					t.fail("%s: %v", name, condition["message"])
				}
				if condition["type"] == "Established" && condition["status"] == "True" {
					established = true
				}
			}
			return established, "not established"
		})
	}
	t.discovers(resources, true)
	return func() {
		for _, name := range names {
			t.must(t.plane.Dynamic.Resource(definitions).Delete(t.ctx, name, meta.DeleteOptions{}),
				name)
		}
		t.until(30*time.Second, "our kinds are gone", func() (bool, string) {
			left, err := t.plane.Dynamic.Resource(definitions).List(t.ctx, meta.ListOptions{})
			t.must(err, "definitions")
			for _, each := range left.Items {
				if strings.HasSuffix(each.GetName(), ".makeway.dev") {
					return false, each.GetName()
				}
			}
			return true, ""
		})
		t.discovers(resources, false)
	}
}

// discovers waits until the server lists these kinds and serves them, or none of them any
// more: that is some time after a definition is established, or gone. It lists them in two forms, of
// which makeway reads the one and we read the other.
func (t *T) discovers(resources []string, wanted bool) {
	rest := t.plane.Client.Discovery().RESTClient()
	t.until(minutes(1), fmt.Sprintf("discovery lists %v: %v", resources, wanted),
		func() (bool, string) {
			groups, err := rest.Get().AbsPath("/apis").DoRaw(t.ctx)
			t.must(err, "groups")
			// There is none such when all of them are gone.
			plain, _ := rest.Get().AbsPath("/apis/makeway.dev/v1").DoRaw(t.ctx)
			hasGroup := strings.Contains(string(groups), `"makeway.dev"`)
			// The list has also what it could read of groups that are about to go.
			_, lists, _ := t.plane.Client.Discovery().ServerGroupsAndResources()
			for _, resource := range resources {
				isPlain := hasGroup && strings.Contains(string(plain), `"name":"`+resource+`"`)
				at := schema.GroupVersionResource{Group: "makeway.dev", Version: "v1",
					Resource: resource}
				_, err := t.plane.Dynamic.Resource(at).List(t.ctx, meta.ListOptions{})
				isServed := err == nil
				if isPlain != wanted || isServed != wanted || isAmong(resource, lists) != wanted {
					return false, fmt.Sprintf("%s: %v %v %v", resource, isPlain,
						isAmong(resource, lists), err)
				}
			}
			return true, ""
		})
}

// isAmong: our kind of that plural is in these lists.
func isAmong(resource string, lists []*meta.APIResourceList) bool {
	for _, list := range lists {
		for _, each := range list.APIResources {
			if list.GroupVersion == "makeway.dev/v1" && each.Name == resource {
				return true
			}
		}
	}
	return false
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// tryCreate creates one object of ours; the answer is the API server's.
func (t *T) tryCreate(document string) error {
	var object unstructured.Unstructured
	t.must(yaml.Unmarshal([]byte(document), &object.Object), document)
	object.SetAPIVersion("makeway.dev/v1")
	kind := object.GetKind()
	var at dynamic.ResourceInterface = t.plane.Dynamic.Resource(schema.GroupVersionResource{
		Group: "makeway.dev", Version: "v1", Resource: plural(kind)})
	if kind == "Session" || kind == "ReplicaSchedule" {
		at = t.plane.Dynamic.Resource(schema.GroupVersionResource{Group: "makeway.dev",
			Version: "v1", Resource: plural(kind)}).Namespace("default")
	}
	_, err := at.Create(t.ctx, &object, meta.CreateOptions{FieldValidation: "Strict"})
	return err
}

// Documents that both sides take.
var goodObjects = []string{
	`{kind: Queue, metadata: {name: top}}`,
	`{kind: Queue, metadata: {name: ml}, spec: {weight: 3, parent: top, priority: -5, reclaimable: false, guarantee: {cpu: 500m, "nvidia.com/gpu": 1}, limit: {cpu: 2, memory: 1Gi, "nvidia.com/gpu": "8"}, namespaces: [ml, "ml-2"]}}`,
	`{kind: ResourceGroup, metadata: {name: a100}, spec: {nodes: [n1], nodeSelector: {disk: ssd}, preemptiblePriority: 5, preemptionOrder: newest}}`,
	`{kind: Partition, metadata: {name: day}, spec: {resourceGroup: a100, tier: 2, preemptible: true, mode: requeue, graceTime: 1h30m, exemptTime: "0"}}`,
	`{kind: Session, metadata: {name: one}, spec: {resourceGroup: a100, partition: day, priority: 100, type: interactive, preemptible: true, kernels: [{name: main, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}, {name: side, resources: {cpu: 1e1}, template: {spec: {containers: [{name: c, image: i}]}}}]}}`,
	`{kind: ReplicaSchedule, metadata: {name: llm}, spec: {priority: 7, resources: {"nvidia.com/gpu": 1}, unmet: 2, planes: [{name: east, committed: 1, score: -1}]}}`,
	`{kind: Configuration, metadata: {name: ours}, spec: {workload: {evictFor: all}, budgets: {mode: strict}}}`,
}

// Documents that the API server refuses; the second text is in its answer.
var badObjects = [][2]string{
	{`{kind: Queue, metadata: {name: bad}, spec: {weight: 0}}`, "spec.weight"},
	{`{kind: Queue, metadata: {name: bad}, spec: {weight: 1000001}}`, "spec.weight"},
	{`{kind: Queue, metadata: {name: bad}, spec: {weight: "3"}}`, "spec.weight"},
	{`{kind: Queue, metadata: {name: bad}, spec: {weigth: 3}}`, "weigth"},
	{`{kind: Partition, metadata: {name: bad}}`, "spec"},
	{`{kind: Queue, metadata: {name: bad}, spec: {priority: 2147483648}}`, "spec.priority"},
	{`{kind: Queue, metadata: {name: bad}, spec: {reclaimable: "no"}}`, "spec.reclaimable"},
	{`{kind: Queue, metadata: {name: bad}, spec: {parent: bad}}`, "its own ancestor"},
	{`{kind: Queue, metadata: {name: bad}, spec: {parent: default}}`, "has no children"},
	{`{kind: Queue, metadata: {name: bad}, spec: {parent: No_Name}}`, "spec.parent"},
	{`{kind: Queue, metadata: {name: bad}, spec: {guarantee: {cpu: 2}, limit: {cpu: 1500m}}}`, "below the guarantee"},
	{`{kind: Queue, metadata: {name: bad}, spec: {guarantee: {cpu: many}}}`, "spec.guarantee"},
	{`{kind: Queue, metadata: {name: bad}, spec: {limit: {cpu: "-1"}}}`, "spec.limit"},
	{`{kind: Queue, metadata: {name: bad}, spec: {namespaces: [Upper]}}`, "spec.namespaces"},
	{`{kind: Queue, metadata: {name: bad}, spec: {namespaces: ml}}`, "spec.namespaces"},
	{`{kind: ResourceGroup, metadata: {name: bad}, spec: {preemptiblePriority: 101}}`, "preemptiblePriority"},
	{`{kind: ResourceGroup, metadata: {name: bad}, spec: {preemptionOrder: random}}`, "preemptionOrder"},
	{`{kind: ResourceGroup, metadata: {name: bad}, spec: {nodes: [n_1]}}`, "spec.nodes"},
	{`{kind: ResourceGroup, metadata: {name: bad}, spec: {nodeSelector: {disk: 1}}}`, "nodeSelector"},
	{`{kind: Partition, metadata: {name: bad}, spec: {tier: 1}}`, "spec.resourceGroup"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, tier: -1}}`, "spec.tier"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, mode: suspend}}`, "cannot suspend"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, mode: pause}}`, "spec.mode"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, graceTime: 5 minutes}}`, "graceTime"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, graceTime: 30}}`, "graceTime"},
	{`{kind: Partition, metadata: {name: bad}, spec: {resourceGroup: a100, exemptTime: -5s}}`, "exemptTime"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100}}`, "spec.kernels"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, kernels: []}}`, "at least one kernel"},
	{`{kind: Session, metadata: {name: bad}, spec: {kernels: [{name: a}]}}`, "spec.resourceGroup"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, kernels: [{resources: {cpu: 1}}]}}`, "name"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, kernels: [{name: a}, {name: a}]}}`, "Duplicate"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, kernels: [{name: a, resources: {pods: 1}}]}}`, "no pod"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, kernels: [{name: a, template: 1}]}}`, "template"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, priority: 101, kernels: [{name: a}]}}`, "spec.priority"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, type: job, kernels: [{name: a}]}}`, "spec.type"},
	{`{kind: Session, metadata: {name: bad}, spec: {resourceGroup: a100, preemptible: true, kernels: [{name: a}]}}`, "without partitions"},
	{`{kind: ReplicaSchedule, metadata: {name: bad}, spec: {unmet: 1}}`, "spec.resources"},
	{`{kind: ReplicaSchedule, metadata: {name: bad}, spec: {resources: {}}}`, "needs something"},
	{`{kind: ReplicaSchedule, metadata: {name: bad}, spec: {resources: {cpu: 1}, unmet: -1}}`, "spec.unmet"},
	{`{kind: ReplicaSchedule, metadata: {name: bad}, spec: {resources: {cpu: 1}, planes: [{committed: 1}]}}`, "name"},
	{`{kind: ReplicaSchedule, metadata: {name: bad}, spec: {resources: {cpu: 1}, planes: [{name: e}, {name: e}]}}`, "Duplicate"},
	{`{kind: Configuration, metadata: {name: bad}, spec: {workload: {evictFor: some}}}`, "evictFor"},
	{`{kind: Configuration, metadata: {name: bad}, spec: {workload: {evictfor: all}}}`, "evictfor"},
}

func ownKinds(t *T) {
	undo := t.define()
	defer undo()
	for _, document := range goodObjects {
		t.must(t.tryCreate(document), document)
	}
	for _, bad := range badObjects {
		err := t.tryCreate(bad[0])
		if err == nil {
			t.fail("the API server took %s", bad[0])
		}
		if !strings.Contains(err.Error(), bad[1]) {
			t.fail("%s: the answer does not say %q: %v", bad[0], bad[1], err)
		}
		t.refuses(bad[0])
	}
	t.note("%d documents taken, %d refused, by both", len(goodObjects), len(badObjects))
	// The live cluster with our kinds is read; nothing of it is refused.
	snapshot := t.succeed("snapshot", "--kubeconfig", t.reader(), "-o", "json")
	for _, name := range []string{"top", "ml", "a100", "day", "one", "llm"} {
		if !strings.Contains(snapshot, `"name": "`+name+`"`) {
			t.fail("the snapshot lacks %s", name)
		}
	}
}

// refuses asks makeway about a document that the API server refused.
func (t *T) refuses(document string) {
	path := t.dir + "/bad.yaml"
	text := strings.Replace(document, "{", "{apiVersion: makeway.dev/v1, ", 1)
	t.must(os.WriteFile(path, []byte(text), 0o600), path)
	arguments := []string{"check", "-f", path}
	if strings.Contains(document, "kind: Configuration") {
		arguments = []string{"check", "--config", path}
	}
	if t.makeway(arguments...).Status == 0 {
		t.fail("makeway check takes %s, which the API server refuses", document)
	}
}
