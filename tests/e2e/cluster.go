package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// apply creates every document of a manifest through the API, as kubectl create does it.
func (t *T) apply(manifest string) {
	resources, err := restmapper.GetAPIGroupResources(t.plane.Client.Discovery())
	t.must(err, "discovery")
	mapper := restmapper.NewDiscoveryRESTMapper(resources)
	for _, document := range strings.Split(manifest, "\n---\n") {
		var object unstructured.Unstructured
		t.must(yaml.Unmarshal([]byte(document), &object.Object), "manifest")
		if object.Object == nil {
			continue
		}
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		t.must(err, "kind of "+object.GetName())
		_, err = t.plane.Dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()).
			Create(t.ctx, &object, meta.CreateOptions{})
		t.must(err, fmt.Sprintf("creating %s %s", object.GetKind(), object.GetName()))
	}
}

func nodeText(name string, cpus int) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: `+
		`{kubernetes.io/hostname: %s, topology.kubernetes.io/zone: z%d}}, status: {capacity: `+
		`{cpu: "%d", memory: 32Gi, pods: "110"}, allocatable: {cpu: "%d", memory: 32Gi, `+
		`pods: "110"}}}`, name, name, len(name)%3, cpus, cpus)
}

// PodText describes a pod; empty fields are left out.
type PodText struct {
	Namespace, Name, Node, Class, CPU, Group, Scheduler string
}

func (p PodText) String() string {
	spec := fmt.Sprintf(`terminationGracePeriodSeconds: 1, containers: [{name: c, image: i, `+
		`resources: {requests: {cpu: "%s"}}}]`, p.CPU)
	for _, field := range [][2]string{{"nodeName", p.Node}, {"priorityClassName", p.Class},
		{"schedulerName", p.Scheduler}} {
		if field[1] != "" {
			spec += fmt.Sprintf(", %s: %s", field[0], field[1])
		}
	}
	if p.Group != "" {
		spec += fmt.Sprintf(", schedulingGroup: {podGroupName: %s}", p.Group)
	}
	return fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {namespace: %s, name: %s, labels: "+
		"{app: %s}}, spec: {%s}}", p.Namespace, p.Name, strings.SplitN(p.Name, "-", 2)[0], spec)
}

// seed makes the small contended cluster that most tests read; the first caller makes it.
func (t *T) seed() {
	if t.plane.seeded {
		return
	}
	t.apply(strings.Join([]string{
		"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}",
		"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: ml}}",
		nodeText("n1", 4), nodeText("n2", 4), nodeText("n3", 4),
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: shop, name: web}, " +
			"spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}}",
		"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {namespace: ml, " +
			"name: train}, spec: {priorityClassName: high, schedulingPolicy: {gang: {minCount: 2}}}}",
	}, "\n---\n"))
	var pods []PodText
	for i := range 3 {
		node := fmt.Sprintf("n%d", i+1)
		pods = append(pods,
			PodText{"shop", fmt.Sprintf("web-%d", i), node, "low", "1", "", ""},
			PodText{"shop", fmt.Sprintf("batch-%d", i), node, "low", "2", "", ""})
	}
	pods = append(pods, PodText{"shop", "urgent", "", "high", "2", "", ""},
		PodText{"ml", "train-0", "", "high", "2", "train", ""},
		PodText{"ml", "train-1", "", "high", "2", "train", ""})
	for _, pod := range pods {
		t.apply(pod.String())
	}
	t.settle()
	t.plane.seeded = true
}

// settle waits until all nodes are ready and untainted and all bound pods run.
func (t *T) settle() {
	t.until(minutes(2), "nodes ready, pods running", func() (bool, string) {
		nodes, err := t.plane.Client.CoreV1().Nodes().List(t.ctx, meta.ListOptions{})
		t.must(err, "nodes")
		for _, node := range nodes.Items {
			if len(node.Spec.Taints) > 0 {
				return false, fmt.Sprintf("%s has the taint %s", node.Name, node.Spec.Taints[0].Key)
			}
		}
		pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx, meta.ListOptions{
			FieldSelector: "status.phase=Pending"})
		t.must(err, "pods")
		for _, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				return false, pod.Name + " does not run"
			}
		}
		budgets, err := t.plane.Client.PolicyV1().PodDisruptionBudgets("").
			List(t.ctx, meta.ListOptions{})
		t.must(err, "budgets")
		for _, budget := range budgets.Items {
			if budget.Status.ObservedGeneration < budget.Generation ||
				budget.Status.CurrentHealthy < budget.Status.ExpectedPods {
				return false, budget.Name + " is not up to date"
			}
		}
		return true, ""
	})
}

// reader writes a kubeconfig with the rights of deploy/rbac-read.yaml and nothing else.
func (t *T) reader() string { return t.readerAt("") }

func (t *T) readerAt(server string) string {
	if t.plane.readerToken == "" {
		text, err := os.ReadFile("../../deploy/rbac-read.yaml")
		t.must(err, "rights")
		t.apply(string(text))
		t.mayListPods(readerUser)
		token, err := t.plane.Client.CoreV1().ServiceAccounts("makeway").CreateToken(t.ctx,
			"makeway-reader", tokenForADay(), meta.CreateOptions{})
		t.must(err, "token of the service account")
		t.plane.readerToken = token.Status.Token
	}
	path := t.dir + "/reader.kubeconfig"
	t.must(t.plane.writeKubeconfig(path, Login{Token: t.plane.readerToken, Server: server}),
		"kubeconfig")
	return path
}

// mayListPods waits until this user may, and so whatever else the role says that was just bound to
// it: the API server learns of its own roles and bindings by watching them.
func (t *T) mayListPods(user string, groups ...string) {
	t.may(user, groups, authorization.ResourceAttributes{Verb: "list", Resource: "pods"})
}

func (t *T) may(user string, groups []string, right authorization.ResourceAttributes) {
	review := &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
		User: user, Groups: groups, ResourceAttributes: &right}}
	t.until(minutes(1), user+" may "+right.Verb+" "+right.Resource, func() (bool, string) {
		answer, err := t.plane.Client.AuthorizationV1().SubjectAccessReviews().Create(t.ctx, review,
			meta.CreateOptions{})
		t.must(err, "review of a right")
		return answer.Status.Allowed, answer.Status.Reason
	})
}

// readResources are those that makeway reads, as far as this server has them.
var readResources = []schema.GroupVersionKind{
	{Version: "v1", Kind: "namespaces"}, {Version: "v1", Kind: "nodes"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "priorityclasses"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "storageclasses"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "csinodes"},
	{Version: "v1", Kind: "persistentvolumes"}, {Version: "v1", Kind: "persistentvolumeclaims"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "resourceclaims"},
	{Group: "policy", Version: "v1", Kind: "poddisruptionbudgets"},
	{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "workloads"},
	{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "podgroups"},
	{Group: "apps", Version: "v1", Kind: "daemonsets"},
	{Group: "node.k8s.io", Version: "v1", Kind: "runtimeclasses"},
	{Version: "v1", Kind: "limitranges"}, {Version: "v1", Kind: "pods"},
}

// dump writes what `kubectl get ... -A -o json` prints: one List with the objects as the server
// gives them, each with its apiVersion and kind. It also returns the versions of all objects.
func (t *T) dump(path string) (versions string) {
	var items []map[string]json.RawMessage
	for _, resource := range readResources {
		prefix := "/apis/" + resource.Group
		if resource.Group == "" {
			prefix = "/api"
		}
		text, err := t.plane.Client.Discovery().RESTClient().Get().
			AbsPath(prefix, resource.Version, resource.Kind).DoRaw(t.ctx)
		t.must(err, resource.Kind)
		var list struct {
			APIVersion, Kind string
			Items            []map[string]json.RawMessage
		}
		t.must(json.Unmarshal(text, &list), resource.Kind)
		for _, item := range list.Items {
			item["apiVersion"], _ = json.Marshal(list.APIVersion)
			item["kind"], _ = json.Marshal(strings.TrimSuffix(list.Kind, "List"))
			var object meta.PartialObjectMetadata
			t.must(json.Unmarshal(item["metadata"], &object.ObjectMeta), "metadata")
			versions += fmt.Sprintf("%s %s/%s %s\n", resource.Kind, object.Namespace, object.Name,
				object.ResourceVersion)
			items = append(items, item)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List",
		"items": items}, "", "    ")
	t.must(err, "dump")
	t.must(os.WriteFile(path, text, 0o644), "dump")
	return versions
}

// fill makes nodes and pods that are bound already, several at a time.
func (t *T) fill(nodes, podsEach int) {
	var work []string
	for i := range nodes {
		work = append(work, nodeText(fmt.Sprintf("f%04d", i), 16))
	}
	t.inParallel(len(work), func(ctx context.Context, i int) error {
		var node core.Node
		if err := yaml.Unmarshal([]byte(work[i]), &node); err != nil {
			return err
		}
		_, err := t.plane.Client.CoreV1().Nodes().Create(ctx, &node, meta.CreateOptions{})
		return err
	})
	t.inParallel(nodes*podsEach, func(ctx context.Context, i int) error {
		text := PodText{Namespace: "fill", Name: fmt.Sprintf("p-%05d", i),
			Node: fmt.Sprintf("f%04d", i%nodes), Class: "low", CPU: "500m"}
		var pod core.Pod
		if err := yaml.Unmarshal([]byte(text.String()), &pod); err != nil {
			return err
		}
		_, err := t.plane.Client.CoreV1().Pods("fill").Create(ctx, &pod, meta.CreateOptions{})
		return err
	})
}

func (t *T) inParallel(count int, do func(context.Context, int) error) {
	var group sync.WaitGroup
	next := make(chan int)
	failed := make(chan error, 16)
	for range 16 {
		group.Go(func() {
			for i := range next {
				if err := do(t.ctx, i); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
	select {
	case err := <-failed:
		t.fail("%v", err)
	default:
	}
}

// audited are the requests of our user since the log had that many bytes: "list pods 200".
func (t *T) audited(user string, from int64) []string {
	text, err := os.ReadFile(t.plane.file("audit.log"))
	t.must(err, "audit log")
	var found []string
	for _, line := range bytes.Split(text[from:], []byte("\n")) {
		var event struct {
			Verb           string
			User           struct{ Username string }
			RequestURI     string
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(line, &event) == nil && event.User.Username == user {
			found = append(found, fmt.Sprintf("%s %s %d", event.Verb,
				strings.SplitN(event.RequestURI, "?", 2)[0], event.ResponseStatus.Code))
		}
	}
	return found
}

func (t *T) auditBytes() int64 {
	info, err := os.Stat(t.plane.file("audit.log"))
	t.must(err, "audit log")
	return info.Size()
}
