package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
)

// Maker makes and changes objects of any kind; discovery is asked once.
type Maker struct {
	plane  *Plane
	mapper meta.RESTMapper
}

func (t *T) maker() *Maker {
	resources, err := restmapper.GetAPIGroupResources(t.plane.Client.Discovery())
	t.must(err, "discovery")
	return &Maker{plane: t.plane, mapper: restmapper.NewDiscoveryRESTMapper(resources)}
}

// create also writes the status where a create leaves it out; what is there already stays.
func (m *Maker) create(ctx context.Context, content map[string]any) error {
	object := &unstructured.Unstructured{Object: content}
	kind := object.GroupVersionKind()
	mapping, err := m.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	resource := m.plane.Dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
	made, err := resource.Create(ctx, object, v1.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	status, has := content["status"]
	if err != nil || !has || kind.Kind == "Node" {
		return err
	}
	made.Object["status"] = status
	_, err = resource.UpdateStatus(ctx, made, v1.UpdateOptions{})
	return err
}

// Board shows all pods of the cases as one watch reports them.
type Board struct{ pods cache.Store }

func (t *T) board(ctx context.Context) *Board {
	watch := cache.NewFilteredListWatchFromClient(t.plane.Client.CoreV1().RESTClient(), "pods", "",
		func(options *v1.ListOptions) {
			options.LabelSelector = "blackbox=pod"
			options.FieldSelector = fields.Everything().String()
		})
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: watch,
		ObjectType: &core.Pod{}, Handler: cache.ResourceEventHandlerFuncs{}})
	go informer.RunWithContext(ctx)
	t.until(minutes(1), "the pods are listed", func() (bool, string) {
		return informer.HasSynced(), "not yet"
	})
	return &Board{pods: store}
}

func (b *Board) pod(namespace, name string) *core.Pod {
	found, exists, err := b.pods.GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return nil
	}
	return found.(*core.Pod)
}

// Trial is one case with one scheduler.
type Trial struct {
	Case
	t                     *T
	maker                 *Maker
	board                 *Board
	pool, side, scheduler string
	expected              map[string]string // Verdict of every pod, as it is by now.
	namespaces            map[string]string
}

func (r *Trial) must(err error, what string) {
	r.t.must(err, what)
}

func (r *Trial) makeNodes(nodes map[string]CaseNode) {
	for name, node := range nodes {
		r.must(r.maker.create(r.t.ctx, node.object(r.pool, name)), "node "+name)
	}
}

func (r *Trial) makeObjects(objects []map[string]any) {
	for _, object := range objects {
		r.must(r.maker.create(r.t.ctx, object), fmt.Sprint("object ", object["kind"]))
	}
}

func (r *Trial) makePod(pod CasePod) {
	r.expected[pod.Name], r.namespaces[pod.Name] = pod.Is.of(r.side), pod.namespace(r.pool)
	r.must(r.maker.create(r.t.ctx, pod.object(r.pool, r.scheduler)), "pod "+pod.Name)
}

// ground is what is there before the schedulers begin, without its bound pods.
func (r *Trial) ground() {
	r.expected, r.namespaces = map[string]string{}, map[string]string{}
	r.must(r.maker.create(r.t.ctx, map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": r.pool}}), "namespace")
	r.makeNodes(r.Nodes)
	r.makeObjects(r.Objects)
}

func (r *Trial) makeBound(older bool) {
	for _, pod := range r.Pods {
		if pod.At != "" && pod.Older == older {
			r.makePod(pod)
		}
	}
}

// run lets the pods ask one after the other, and looks twice at the results of all.
func (r *Trial) run() {
	for _, pod := range r.Pods {
		if pod.Leaving {
			r.remove("pods/" + pod.Name)
		}
	}
	r.ask(r.Pods)
	for _, step := range r.Then {
		r.makeNodes(step.Nodes)
		r.makeObjects(step.Objects)
		for _, path := range step.Delete {
			delete(r.expected, strings.TrimPrefix(path, "pods/"))
			r.remove(path)
		}
		for path, patch := range step.Patch {
			r.patch(path, patch)
		}
		for path, patch := range step.Status {
			r.patch(path, patch, "status")
		}
		r.ask(step.Pods)
		for name, verdict := range step.Now {
			r.expected[name] = verdict.of(r.side)
		}
		for name := range step.Now {
			r.await(name)
		}
	}
	for name := range r.expected {
		r.await(name)
	}
	time.Sleep(2 * time.Second)
	for name := range r.expected {
		r.await(name)
	}
}

func (r *Trial) ask(pods []CasePod) {
	for _, pod := range pods {
		if _, there := r.expected[pod.Name]; !there {
			r.makePod(pod)
		}
		if pod.At == "" {
			r.await(pod.Name)
		}
	}
}

// path is KIND/NAME; nodes have the short name.
func (r *Trial) target(path string) (schema.GroupVersionResource, string, string) {
	kind, name, _ := strings.Cut(path, "/")
	resource := schema.GroupVersionResource{Version: "v1", Resource: kind}
	switch kind {
	case "nodes":
		return resource, "", r.pool + "-" + name
	case "namespaces":
		return resource, "", name
	}
	return resource, r.namespaces[name], name
}

func (r *Trial) patch(path string, patch map[string]any, subresources ...string) {
	resource, namespace, name := r.target(path)
	text, err := json.Marshal(patch)
	r.must(err, "patch")
	_, err = r.t.plane.Dynamic.Resource(resource).Namespace(namespace).Patch(r.t.ctx, name,
		types.MergePatchType, text, v1.PatchOptions{}, subresources...)
	r.must(err, "patch of "+path)
}

func (r *Trial) remove(path string) {
	resource, namespace, name := r.target(path)
	r.must(r.t.plane.Dynamic.Resource(resource).Namespace(namespace).Delete(r.t.ctx, name,
		v1.DeleteOptions{}), "delete of "+path)
}

// await waits until the pod is what it should be, and fails at once if it never can be any more.
func (r *Trial) await(name string) {
	if r.expected[name] == "held" {
		time.Sleep(1500 * time.Millisecond)
	}
	r.t.until(minutes(1), name+" should be: "+r.expected[name], func() (bool, string) {
		time.Sleep(50 * time.Millisecond)
		right, never, is := r.look(name)
		if never {
			r.t.fail("%s should be: %s; %s", name, r.expected[name], is)
		}
		return right, is
	})
}

func (r *Trial) look(name string) (right, never bool, is string) {
	pod, wanted := r.board.pod(r.namespaces[name], name), r.expected[name]
	if wanted == "gone" {
		return pod == nil || pod.DeletionTimestamp != nil, false, "it is still there"
	}
	if pod == nil {
		return false, false, "it is not there"
	}
	node := strings.TrimPrefix(pod.Spec.NodeName, r.pool+"-")
	scheduled := condition(pod, "PodScheduled")
	is = fmt.Sprintf("it is not bound: %s %s", scheduled.Reason, scheduled.Message)
	if node != "" {
		is = "it is bound to " + node
	}
	switch word, rest, _ := strings.Cut(wanted, " "); word {
	case "anything": // It depends on what else happens.
		return true, false, is
	case "stays":
		return pod.DeletionTimestamp == nil, pod.DeletionTimestamp != nil, "it is evicted"
	case "waits":
		return node == "" && scheduled.Reason == core.PodReasonUnschedulable, node != "", is
	case "held":
		return node == "", node != "", is
	case "nominated":
		return pod.Status.NominatedNodeName == r.pool+"-"+rest, node != "", is
	default:
		for _, each := range strings.Split(word, "|") {
			if node == each {
				return true, false, is
			}
		}
		return false, node != "", is
	}
}
