package main

import (
	"context"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const peerNamespace = "peer"

var podGroups = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1beta1",
	Resource: "podgroups"}

// cheap is a client that speaks the binary form, so that the load program takes little of the CPU.
func (p *Peer) cheap(name string) *kubernetes.Clientset {
	config := rest.CopyConfig(p.plane.Admin)
	config.ContentType, config.UserAgent = "application/vnd.kubernetes.protobuf", name
	client, err := kubernetes.NewForConfig(config)
	p.must(err, "client")
	return client
}

func (p *Peer) begin() {
	p.client = p.cheap("load")
	p.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + peerNamespace + "}}")
	for class, value := range map[string]int32{"peer-low": 10, "peer-high": 1000} {
		_, err := p.client.SchedulingV1().PriorityClasses().Create(p.ctx, &scheduling.PriorityClass{
			ObjectMeta: meta.ObjectMeta{Name: class}, Value: value}, meta.CreateOptions{})
		p.must(err, "class")
	}
	p.must(p.makeNode("peer-probe", "probe"), "node")
}

func (p *Peer) makeNode(name, kind string) error {
	room := core.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("64Gi"),
		"pods": resource.MustParse("110")}
	_, err := p.client.CoreV1().Nodes().Create(p.ctx, &core.Node{ObjectMeta: meta.ObjectMeta{
		Name: name, Labels: map[string]string{"peer": kind, "kubernetes.io/hostname": name}},
		Status: core.NodeStatus{Capacity: room, Allocatable: room}}, meta.CreateOptions{})
	return err
}

func (p *Peer) node(i int) string { return fmt.Sprintf("peer-%04d", i) }

// pod of one CPU for nodes of the loads; its role is how it is found again.
func (p *Peer) pod(name, role, scheduler string) *core.Pod {
	grace := int64(1)
	return &core.Pod{ObjectMeta: meta.ObjectMeta{Namespace: peerNamespace, Name: name,
		Labels: map[string]string{"role": role}}, Spec: core.PodSpec{SchedulerName: scheduler,
		TerminationGracePeriodSeconds: &grace, PriorityClassName: "peer-low",
		NodeSelector: map[string]string{"peer": "load"},
		Containers: []core.Container{{Name: "c", Image: "i", Resources: core.ResourceRequirements{
			Requests: core.ResourceList{"cpu": resource.MustParse("1")}}}}}}
}

func (p *Peer) create(pod *core.Pod) error {
	_, err := p.client.CoreV1().Pods(peerNamespace).Create(p.ctx, pod, meta.CreateOptions{})
	return err
}

func (p *Peer) list(selector string) []core.Pod {
	pods, err := p.client.CoreV1().Pods(peerNamespace).List(p.ctx,
		meta.ListOptions{LabelSelector: selector})
	p.must(err, "pods")
	return pods.Items
}

// erase deletes pods without grace, and waits until they are gone.
func (p *Peer) erase(selector string) {
	now := int64(0)
	p.until(minutes(5), "pods "+selector+" are gone", func() (bool, string) {
		err := p.client.CoreV1().Pods(peerNamespace).DeleteCollection(p.ctx,
			meta.DeleteOptions{GracePeriodSeconds: &now}, meta.ListOptions{LabelSelector: selector})
		p.must(err, "delete")
		left := len(p.list(selector))
		return left == 0, fmt.Sprintf("%d are left", left)
	})
}

// prepare makes the nodes that are missing and the low pods that the load wants.
func (p *Peer) prepare(load Load) {
	from := p.nodes
	p.nodes = max(p.nodes, load.Nodes)
	p.inParallel(p.nodes-from, func(_ context.Context, i int) error {
		return p.makeNode(p.node(from+i), "load")
	})
	p.until(minutes(5), "nodes are ready", func() (bool, string) {
		time.Sleep(time.Second)
		nodes, err := p.client.CoreV1().Nodes().List(p.ctx, meta.ListOptions{})
		p.must(err, "nodes")
		for _, node := range nodes.Items {
			if len(node.Spec.Taints) > 0 {
				return false, node.Name
			}
		}
		return true, ""
	})
	if load.Low == 0 {
		p.erase("role=low")
	}
	p.refill(load)
}

// refill makes the low pods anew that have left.
func (p *Peer) refill(load Load) {
	there := map[string]bool{}
	for _, pod := range p.list("role=low") {
		there[pod.Name] = pod.DeletionTimestamp == nil
	}
	var missing []*core.Pod
	for i := range load.Nodes {
		for j := range load.Low {
			pod := p.pod(fmt.Sprintf("low-%04d-%d", i, j), "low", "makeway")
			pod.Spec.NodeName = p.node(i)
			if !there[pod.Name] {
				missing = append(missing, pod)
			}
		}
	}
	p.inParallel(len(missing), func(_ context.Context, i int) error {
		return p.create(missing[i])
	})
	p.until(minutes(10), "low pods run", func() (bool, string) {
		time.Sleep(time.Second)
		pods, err := p.client.CoreV1().Pods(peerNamespace).List(p.ctx, meta.ListOptions{
			LabelSelector: "role=low", FieldSelector: "status.phase=Pending", Limit: 1})
		p.must(err, "pods")
		return len(pods.Items) == 0, "some are pending"
	})
}

// clear brings the cluster back to what prepare made.
func (p *Peer) clear(load Load) {
	p.erase("role in (ask, waiting)")
	p.must(p.plane.Dynamic.Resource(podGroups).Namespace(peerNamespace).DeleteCollection(p.ctx,
		meta.DeleteOptions{}, meta.ListOptions{}), "groups")
	p.until(minutes(1), "groups are gone", func() (bool, string) {
		groups, err := p.plane.Dynamic.Resource(podGroups).Namespace(peerNamespace).List(p.ctx,
			meta.ListOptions{})
		p.must(err, "groups")
		return len(groups.Items) == 0, "some are left"
	})
	p.refill(load)
}
