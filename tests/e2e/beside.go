package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Beside is one more cluster: an API server of its own in the etcd of the first one, and of the
// controllers those of Deployments and ReplicaSets. Scheduler and kubelets are played here: a pod
// is bound to the first open node with a free GPU and runs; a leaving pod goes when `letGo` is set.
type Beside struct {
	*T
	name  string
	nodes []string
	letGo atomic.Bool
	// Whether what an owner has left behind is deleted.
	collects atomic.Bool
	closed   sync.Map // Nodes to which no pod is bound.
	done     context.CancelFunc
}

// beside starts it; whatever it starts is stopped with the first one.
func (t *T) beside(name string, nodes ...string) *Beside {
	first := t.plane
	plane := &Plane{binaries: first.binaries, dir: filepath.Join(t.dir, name),
		etcdURL: first.etcdURL, etcd: first.etcd, authority: first.authority}
	t.must(os.MkdirAll(plane.dir, 0o755), "folder")
	t.must(plane.writeFiles(), "files")
	ports, err := freePorts(1)
	t.must(err, "ports")
	// What another test has left there is another cluster's.
	plane.serveAt(ports[0], "--etcd-prefix", "/"+filepath.Base(t.dir)+"-"+name)
	err = plane.startServer(t.ctx)
	first.all = append(first.all, plane.all...)
	t.must(err, "API server of "+name)
	plane.adminConfig = plane.file("admin.kubeconfig")
	t.must(plane.writeKubeconfig(plane.adminConfig, Login{Token: adminToken}), "kubeconfig")
	controllers, err := plane.run("kube-controller-manager", "--kubeconfig", plane.adminConfig,
		"--leader-elect=false", "--secure-port", "0", "--kube-api-qps", "500",
		"--kube-api-burst", "1000", "--controllers", "deployment-controller,replicaset-controller")
	t.must(err, "controllers of "+name)
	first.all = append(first.all, controllers)
	beside := &Beside{name: name, nodes: nodes,
		T: &T{ctx: t.ctx, plane: plane, dir: plane.dir, night: t.night}}
	for _, node := range nodes {
		beside.apply(fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s}, status: `+
			`{capacity: {nvidia.com/gpu: "1", pods: "20"}, allocatable: {nvidia.com/gpu: "1", `+
			`pods: "20"}}}`, node))
	}
	beside.apply("{apiVersion: v1, kind: Namespace, metadata: {name: fleet, labels: " +
		`{makeway.dev/trusted: "true"}}}`)
	ctx, done := context.WithCancel(t.ctx)
	beside.done = done
	go beside.play(ctx)
	return beside
}

// stop ends its programs; nothing of it is left.
func (b *Beside) stop() {
	b.done()
	b.plane.Stop()
}

// config has the rights of deploy/rbac-plane.yaml and nothing else.
func (b *Beside) config(server string) string {
	if b.plane.schedulerToken == "" {
		text, err := os.ReadFile("../../deploy/rbac-plane.yaml")
		b.must(err, "rights")
		b.apply(string(text))
		b.mayListPods(planeUser)
		token, err := b.plane.Client.CoreV1().ServiceAccounts("makeway").CreateToken(b.ctx,
			"makeway-plane", tokenForADay(), meta.CreateOptions{})
		b.must(err, "token")
		b.plane.schedulerToken = token.Status.Token
	}
	path := b.plane.file("makeway.kubeconfig")
	b.must(b.plane.writeKubeconfig(path, Login{Token: b.plane.schedulerToken, Server: server}),
		"kubeconfig")
	return path
}

// deploy makes a Deployment whose replicas want one GPU each and leave within the grace time.
func (b *Beside) deploy(name string, replicas, graceSeconds int) {
	b.apply(fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %[1]s, `+
		`namespace: fleet}, spec: {replicas: %[2]d, selector: {matchLabels: {app: %[1]s}}, `+
		`template: {metadata: {labels: {app: %[1]s, makeway.dev/deployment: %[1]s}}, spec: `+
		`{terminationGracePeriodSeconds: %[3]d, containers: [{name: c, image: i, resources: `+
		`{requests: {nvidia.com/gpu: "1"}, limits: {nvidia.com/gpu: "1"}}}]}}}}`,
		name, replicas, graceSeconds))
}

func (b *Beside) replicas(name string) int32 {
	scale, err := b.plane.Client.AppsV1().Deployments("fleet").GetScale(b.ctx, name,
		meta.GetOptions{})
	b.must(err, "scale of "+name)
	return scale.Spec.Replicas
}

// pods of a Deployment that run, and those that are leaving.
func (b *Beside) pods(name string) (running, leaving []string) {
	list, err := b.plane.Client.CoreV1().Pods("fleet").List(b.ctx,
		meta.ListOptions{LabelSelector: "app=" + name})
	b.must(err, "pods of "+name)
	for _, pod := range list.Items {
		switch {
		case pod.DeletionTimestamp != nil:
			leaving = append(leaving, pod.Name)
		case pod.Status.Phase == core.PodRunning:
			running = append(running, pod.Name)
		}
	}
	return running, leaving
}

func (b *Beside) runs(name string, count int) {
	b.until(minutes(1), fmt.Sprintf("%d pods of %s run in %s", count, name, b.name),
		func() (bool, string) {
			running, leaving := b.pods(name)
			return len(running) == count, fmt.Sprintf("running %v, leaving %v", running, leaving)
		})
}

// play is the scheduler and the kubelets, until the end.
func (b *Beside) play(ctx context.Context) {
	for ctx.Err() == nil {
		b.playOnce(ctx)
		if b.collects.Load() {
			b.collect(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (b *Beside) playOnce(ctx context.Context) {
	client := b.plane.Client.CoreV1().Pods("fleet")
	list, err := client.List(ctx, meta.ListOptions{})
	if err != nil {
		return // It is asked again.
	}
	used := map[string]bool{}
	for _, pod := range list.Items {
		used[pod.Spec.NodeName] = true
	}
	now := int64(0)
	for _, pod := range list.Items {
		switch {
		case pod.DeletionTimestamp != nil && b.letGo.Load():
			client.Delete(ctx, pod.Name, meta.DeleteOptions{GracePeriodSeconds: &now,
				Preconditions: &meta.Preconditions{UID: &pod.UID}})
		case pod.DeletionTimestamp != nil || pod.Status.Phase == core.PodRunning:
		case pod.Spec.NodeName != "":
			client.Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(
				`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`),
				meta.PatchOptions{}, "status")
		default:
			for _, node := range b.nodes {
				if _, isClosed := b.closed.Load(node); used[node] || isClosed {
					continue
				}
				used[node] = true
				client.Bind(ctx, &core.Binding{ObjectMeta: meta.ObjectMeta{Name: pod.Name},
					Target: core.ObjectReference{Kind: "Node", Name: node}}, meta.CreateOptions{})
				break
			}
		}
	}
}

// close a node, or open it again.
func (b *Beside) close(ctx context.Context, node string, isClosed bool) error {
	if isClosed {
		b.closed.Store(node, true)
	} else {
		b.closed.Delete(node)
	}
	_, err := b.plane.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"unschedulable":%v}}`, isClosed)), meta.PatchOptions{})
	return err
}

// clear takes the Deployments away, with everything that they own.
func (b *Beside) clear() {
	b.collects.Store(true)
	client := b.plane.Client.AppsV1().Deployments("fleet")
	list, err := client.List(b.ctx, meta.ListOptions{})
	b.must(err, "deployments")
	// There is no other garbage collector here.
	alone := meta.DeletePropagationBackground
	for _, each := range list.Items {
		err := client.Delete(b.ctx, each.Name, meta.DeleteOptions{PropagationPolicy: &alone})
		if !errors.IsNotFound(err) {
			b.must(err, each.Name)
		}
	}
	b.until(minutes(1), "nothing is left in "+b.name, func() (bool, string) {
		sets, err := b.plane.Client.AppsV1().ReplicaSets("fleet").List(b.ctx, meta.ListOptions{})
		b.must(err, "replica sets")
		pods, err := b.plane.Client.CoreV1().Pods("fleet").List(b.ctx, meta.ListOptions{})
		b.must(err, "pods")
		return len(sets.Items)+len(pods.Items) == 0,
			fmt.Sprintf("%d replica sets, %d pods", len(sets.Items), len(pods.Items))
	})
}

// collect deletes what an owner has left behind. A controller whose cache is behind makes a
// ReplicaSet or a pod for an owner that is gone, after everything else was cleared away; such a pod
// holds a node for ever. Owners are listed last, so that an owner that is not listed is gone.
func (b *Beside) collect(ctx context.Context) {
	apps, pods := b.plane.Client.AppsV1(), b.plane.Client.CoreV1().Pods("fleet")
	podList, podErr := pods.List(ctx, meta.ListOptions{})
	setList, setErr := apps.ReplicaSets("fleet").List(ctx, meta.ListOptions{})
	owners, err := apps.Deployments("fleet").List(ctx, meta.ListOptions{})
	if podErr != nil || setErr != nil || err != nil {
		return // It is asked again.
	}
	alive := map[types.UID]bool{}
	for _, each := range owners.Items {
		alive[each.UID] = true
	}
	now, alone := int64(0), meta.DeletePropagationBackground
	isGone := func(object meta.Object) bool {
		owner := meta.GetControllerOf(object)
		return owner != nil && !alive[owner.UID]
	}
	for _, each := range setList.Items {
		if !isGone(&each) {
			alive[each.UID] = true
			continue
		}
		apps.ReplicaSets("fleet").Delete(ctx, each.Name, meta.DeleteOptions{
			PropagationPolicy: &alone, Preconditions: &meta.Preconditions{UID: &each.UID}})
	}
	for _, each := range podList.Items {
		if isGone(&each) {
			pods.Delete(ctx, each.Name, meta.DeleteOptions{GracePeriodSeconds: &now,
				Preconditions: &meta.Preconditions{UID: &each.UID}})
		}
	}
}
