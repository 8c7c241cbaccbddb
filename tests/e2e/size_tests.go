package main

import (
	"syscall"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func sizeTests() []Test {
	return []Test{
		{Name: "a large cluster: time, memory and requests", Run: largeCluster},
	}
}

// largeCluster is the last test: what it makes stays.
func largeCluster(t *T) {
	t.seed()
	nodes, pods := 200, 10
	if t.night {
		nodes = 1000
	}
	t.apply("{apiVersion: v1, kind: Namespace, metadata: {name: fill}}")
	began := time.Now()
	t.fill(nodes, pods)
	t.until(minutes(9), "all pods run", func() (bool, string) {
		time.Sleep(time.Second)
		left, err := t.plane.Client.CoreV1().Pods("fill").List(t.ctx, meta.ListOptions{
			FieldSelector: "status.phase=Pending", Limit: 1})
		t.must(err, "pods")
		return len(left.Items) == 0, "some are pending"
	})
	t.settle()
	t.note("%d nodes and %d pods made in %.1f s", nodes, nodes*pods, seconds(began))
	front := t.front()
	defer front.server.Close()
	through, direct := t.readerAt(front.URL), t.plane.dir+"/large.kubeconfig"
	t.must(t.plane.writeKubeconfig(direct, Login{Token: t.plane.readerToken}), "kubeconfig")
	t.succeed("plan", "--kubeconfig", through)
	requests := front.counted(t)
	for range 3 {
		run := t.makeway("plan", "--kubeconfig", direct)
		if run.Status != 0 {
			t.fail("plan: exit status %d\n%s", run.Status, run.Err)
		}
		t.contains(run.Out, "urgent")
		t.note("makeway plan: %.2f s, %d MB, %d requests", run.Took.Seconds(),
			run.MemoryBytes>>20, requests)
	}
	t.besideKubeScheduler()
}

// besideKubeScheduler: how long until it has bound one pod that fits, from its start.
func (t *T) besideKubeScheduler() {
	t.apply(PodText{Namespace: "fill", Name: "fits", CPU: "1"}.String())
	began := time.Now()
	scheduler, err := t.plane.startScheduler()
	t.must(err, "kube-scheduler")
	t.until(minutes(2), "kube-scheduler binds a pod", func() (bool, string) {
		pod, err := t.plane.Client.CoreV1().Pods("fill").Get(t.ctx, "fits", meta.GetOptions{})
		t.must(err, "pod")
		return pod.Spec.NodeName != "", "not bound"
	})
	took := seconds(began)
	scheduler.stop(syscall.SIGTERM, 5*time.Second)
	cpu, memory := scheduler.used()
	t.note("kube-scheduler until its first bind: %.2f s, %d MB, %.1f s of CPU", took,
		memory>>20, cpu.Seconds())
}
