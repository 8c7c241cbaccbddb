package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func shadowTests() []Test {
	return []Test{
		{Name: "shadow beside kube-scheduler: kube-1.37 agrees, makeway takes fewer victims",
			Run: besideTheScheduler},
	}
}

// In each pool. For the first ask on a wasteful node kube-scheduler takes two victims where one is
// enough; the second one takes what that left there.
const (
	equalAsks     = 6
	wastefulNodes = 3
	wastefulAsks  = 2*wastefulNodes - 1
	shadowAsks    = equalAsks + wastefulAsks
)

// Shadow is a makeway that decides beside kube-scheduler.
type Shadow struct {
	process *Process
	out     string
}

func (t *T) shadow(config, preset string) *Shadow {
	folder := filepath.Join(t.dir, preset)
	t.must(os.MkdirAll(folder, 0o755), "folder")
	process, err := startProcess(folder, os.Getenv("MAKEWAY_BINARY"), "run", "--shadow",
		"default-scheduler", "--kubeconfig", config, "--preset", preset, "-o", "json",
		"--count", fmt.Sprint(shadowAsks), "--for", "5m")
	t.must(err, "makeway")
	t.plane.all = append(t.plane.all, process)
	return &Shadow{process: process, out: filepath.Join(folder, process.Name+".log")}
}

// shadowSummary is the last line that it prints.
type shadowSummary struct {
	Compared, PlansRefused int
	Verdicts               map[string]int
	Theirs, Ours           struct{ VictimCount, PrioritySum, RunSeconds int }
}

// summary after its end.
func (s *Shadow) summary(t *T) shadowSummary {
	t.until(minutes(3), "the shadow compares everything", func() (bool, string) {
		text, _ := os.ReadFile(s.out)
		return !s.process.running(), string(text)
	})
	text, err := os.ReadFile(s.out)
	t.must(err, "what makeway printed")
	for line := range strings.Lines(string(text)) {
		var last struct{ Summary *shadowSummary }
		if json.Unmarshal([]byte(line), &last) != nil || last.Summary == nil {
			continue
		}
		if last.Summary.Compared != shadowAsks || last.Summary.PlansRefused != 0 {
			t.fail("not everything was compared: %s", text)
		}
		return *last.Summary
	}
	t.fail("no summary: %s", text)
	return shadowSummary{}
}

// contend makes three full nodes; which pod is the cheapest victim is never a tie.
func (t *T) contend() {
	var documents, pods []string
	for node := range 3 {
		name := fmt.Sprintf("s%d", node)
		documents = append(documents, strings.Replace(nodeText(name, 4), "labels: {",
			"labels: {pool: shadow, ", 1))
		for half := range 2 {
			value := 100 + 10*node + half // Above "low": others that wait do not come here.
			class := fmt.Sprintf("shadow-%d", value)
			documents = append(documents, fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1, "+
				"kind: PriorityClass, metadata: {name: %s}, value: %d}", class, value))
			pods = append(pods, PodText{Namespace: "shadow", Name: fmt.Sprintf("low-%d-%d", node, half),
				Node: name, Class: class, CPU: "2"}.String())
		}
	}
	t.apply(strings.Join(documents, "\n---\n"))
	t.apply(strings.Join(pods, "\n---\n"))
	t.settle()
}

// waste makes three full nodes with an old pod of 2 CPUs and two younger ones of 1 CPU, all of one
// priority: kube-scheduler spares the oldest first, and so evicts two for an ask of 2 CPUs.
func (t *T) waste() {
	var nodes, old, young []string
	for node := range wastefulNodes {
		name, class := fmt.Sprintf("w%d", node), fmt.Sprintf("waste-%d", node)
		nodes = append(nodes, strings.Replace(nodeText(name, 4), "labels: {",
			"labels: {pool: waste, ", 1), fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1, "+
			"kind: PriorityClass, metadata: {name: %s}, value: %d}", class, 200+node))
		pod := PodText{Namespace: "shadow", Name: "old-" + name, Node: name, Class: class, CPU: "2"}
		old = append(old, pod.String())
		for half := range 2 {
			pod.Name, pod.CPU = fmt.Sprintf("young-%s-%d", name, half), "1"
			young = append(young, pod.String())
		}
	}
	t.apply(strings.Join(nodes, "\n---\n"))
	t.apply(strings.Join(old, "\n---\n"))
	t.settle()
	time.Sleep(1100 * time.Millisecond) // Start times have seconds.
	t.apply(strings.Join(young, "\n---\n"))
	t.settle()
}

func besideTheScheduler(t *T) {
	t.seed()
	t.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shadow}}")
	config := t.reader()
	scheduler, err := t.plane.startScheduler()
	t.must(err, "kube-scheduler")
	defer scheduler.stop(syscall.SIGTERM, 5*time.Second)
	t.apply(PodText{Namespace: "shadow", Name: "first", CPU: "1m"}.String())
	t.bound("first")
	t.settleAsks()
	// Not before: a pod that waits since the start may take any node.
	t.contend()
	t.waste()
	presets := []string{"kube-1.37", "makeway"}
	var shadows []*Shadow
	for _, preset := range presets {
		shadows = append(shadows, t.shadow(config, preset))
	}
	for _, shadow := range shadows {
		t.until(minutes(1), "the shadow sees the cluster", func() (bool, string) {
			text, _ := os.ReadFile(shadow.out)
			return strings.Contains(string(text), "makeway: watching default-scheduler"), string(text)
		})
	}
	for i := range shadowAsks {
		ask := PodText{Namespace: "shadow", Name: fmt.Sprintf("ask-%d", i), Class: "high", CPU: "2"}
		pool := "shadow"
		if i >= equalAsks {
			pool = "waste"
		}
		t.apply(strings.Replace(ask.String(), "spec: {", "spec: {nodeSelector: {pool: "+pool+"}, ", 1))
		t.bound(ask.Name)
	}
	for i, preset := range presets {
		summary := shadows[i].summary(t)
		for verdict, count := range summary.Verdicts {
			if count > 0 {
				t.note("%s: %d %s", preset, count, verdict)
			}
		}
		t.note("%s: victims %d (they %d), sum of priorities %d (they %d)", preset,
			summary.Ours.VictimCount, summary.Theirs.VictimCount, summary.Ours.PrioritySum,
			summary.Theirs.PrioritySum)
		same := shadowAsks
		if preset == "makeway" {
			same = shadowAsks - wastefulNodes
		}
		if summary.Verdicts["same"] != same || summary.Verdicts["fewer-victims"] != shadowAsks-same {
			text, _ := os.ReadFile(shadows[i].out)
			t.fail("%s: expected %d the same and %d with fewer victims: %s", preset, same,
				shadowAsks-same, text)
		}
	}
}

func (t *T) bound(name string) {
	t.until(minutes(2), "kube-scheduler binds "+name, func() (bool, string) {
		pod, err := t.plane.Client.CoreV1().Pods("shadow").Get(t.ctx, name, meta.GetOptions{})
		t.must(err, "pod")
		return pod.Spec.NodeName != "", "not bound"
	})
}

// settleAsks waits until kube-scheduler has nothing to do any more, so that only ours are compared.
func (t *T) settleAsks() {
	t.until(minutes(2), "no pending pods of others", func() (bool, string) {
		pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx, meta.ListOptions{
			FieldSelector: "spec.nodeName=,spec.schedulerName=default-scheduler"})
		t.must(err, "pods")
		for _, pod := range pods.Items {
			return false, pod.Name + " is pending"
		}
		return true, ""
	})
}
