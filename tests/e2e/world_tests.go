package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func worldTests() []Test {
	return []Test{
		{Name: "world: another client binds our pod meanwhile", Run: foreignBinder},
		{Name: "world: another scheduler takes the room of a victim", Run: intruder},
		{Name: "world: a kubelet refuses a pod: the next one goes to another node",
			Run: kubeletRefuses},
		{Name: "world: a strict budget refuses in the middle of a gang of mode all",
			Run: budgetInTheMiddle},
		{Name: "world: preemptionPolicy Never evicts nothing", Run: neverPreempts},
		{Name: "world: hostile objects are left aside, and the others are served", Run: hostile},
		{Name: "world: a volume is made where the pod goes", Run: volumeIsMade},
		{Name: "world: churn, cuts and compaction: it schedules by what a fresh list says",
			Run: scheduledByFreshList},
	}
}

// figure is one of /metrics, without labels.
func (s *Scheduler) figure(t *T, name string) int {
	_, text := s.get(t, "/metrics")
	for line := range strings.Lines(text) {
		var value float64
		if strings.HasPrefix(line, name+" ") {
			fmt.Sscanf(line, name+" %g", &value)
			return int(value)
		}
	}
	t.fail("there is no %s in /metrics:\n%s", name, text)
	return 0
}

func (s *Scheduler) awaitFigure(t *T, name string, wanted int) {
	t.until(minutes(1), fmt.Sprintf("%s is %d", name, wanted), func() (bool, string) {
		value := s.figure(t, name)
		return value == wanted, fmt.Sprintf("%d\n%s", value, s.text())
	})
}

func foreignBinder(t *T) {
	pool, faulty, held := t.pool("foreign", 2, 1, 0), t.faulty(), newHeld()
	defer faulty.stop()
	defer held.release()
	scheduler := t.start(faulty.URL, "makeway")
	scheduler.says(t, "event=sight ")
	faulty.obey(func(write Write) Fault {
		if write.is("POST pods/binding") && write.Name == "p" {
			return Fault{Hold: held.gate}
		}
		return Fault{}
	})
	pool.ask("p", "low", "1", "")
	faulty.await(t, "POST pods/binding", 1, scheduler)
	planned := t.plannedNode(scheduler, "Pod foreign/p")
	theirs, ours := pool.node(0), pool.node(1)
	if planned == theirs {
		theirs, ours = ours, theirs
	}
	t.must(t.plane.Client.CoreV1().Pods(pool.name).Bind(t.ctx, &core.Binding{
		ObjectMeta: meta.ObjectMeta{Namespace: pool.name, Name: "p"},
		Target:     core.ObjectReference{Kind: "Node", Name: theirs}}, meta.CreateOptions{}), "bind")
	held.release()
	if late := faulty.settled(t, "POST pods/binding")[0]; late.Code != 409 {
		t.fail("%s was answered with %d", late, late.Code)
	}
	pool.ask("q", "low", "1", "")
	pool.bound(scheduler, "p", "q")
	if p, q := pool.pod("p").Spec.NodeName, pool.pod("q").Spec.NodeName; p != theirs || q != ours {
		t.fail("p is on %s, q on %s; expected %s and %s", p, q, theirs, ours)
	}
	scheduler.awaitFigure(t, "makeway_unsent_actions", 0)
	scheduler.end(t)
}

// plannedNode is where the log says that it goes.
func (t *T) plannedNode(scheduler *Scheduler, ask string) (node string) {
	t.until(minutes(1), "the log has "+ask, func() (bool, string) {
		for line := range strings.Lines(scheduler.text()) {
			if !strings.Contains(line, "event=decided ") ||
				!strings.Contains(line, fmt.Sprintf("ask=%q", ask)) {
				continue
			}
			if _, rest, found := strings.Cut(line, " node="); found {
				node = strings.Fields(rest)[0]
				return true, ""
			}
		}
		return false, scheduler.text()
	})
	return node
}

// intruder: a pod of another scheduler comes onto the node while the victim leaves. The ask does
// not take the next one at once: the other scheduler may go on like that.
func intruder(t *T) {
	pool := t.pool("intruder", 1, 2, 2)
	pool.finalizers(`["e2e.makeway.dev/hold"]`)
	scheduler := t.scheduler("makeway", "event=sight ", "--set", "live.evictAgainWindow=10s")
	pool.ask("urgent", "high", "1", "")
	began := time.Now()
	pool.leaving("low-", scheduler)
	t.apply(PodText{Namespace: pool.name, Name: "foreign", Node: pool.node(0), Class: "high", CPU: "1",
		Scheduler: "another"}.String())
	pool.finalizers("null")
	scheduler.awaitFigure(t, "makeway_brake_alarms_total", 1)
	t.contains(scheduler.text(), "brake: Pod intruder/urgent made pods leave")
	// The window began before that, and is not over if it was not when they were counted.
	if left := pool.left("low-"); left != 1 && time.Since(began) < 8*time.Second {
		t.fail("%d pods low-... are left, expected 1\n%s", left, scheduler.text())
	}
	pool.bound(scheduler, "urgent")
	pool.expectLeft("low-", 0)
	pool.expectLeft("foreign", 1)
	scheduler.end(t)
}

func (p *Pool) replicas(name string, count int) {
	p.t.apply(fmt.Sprintf("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {namespace: %s, "+
		"name: %s}, spec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: "+
		"{labels: {app: %s}}, spec: {schedulerName: makeway, priorityClassName: low, nodeSelector: "+
		"{pool: %s}, terminationGracePeriodSeconds: 0, containers: [{name: c, image: i, resources: "+
		"{requests: {cpu: \"1\"}}}]}}}}", p.name, name, count, name, name, p.name))
}

// kubeletRefuses: what a kubelet does to a pod that it has no room for, whatever its node says.
func kubeletRefuses(t *T) {
	pool := t.pool("refused", 2, 2, 0)
	scheduler := t.scheduler("makeway", "event=sight ")
	pool.replicas("web", 1)
	// kwok has done its part by then, and writes no other phase over the one that we give it.
	runs := func(besides string) (name, node string) {
		t.until(minutes(1), "a pod of the ReplicaSet runs", func() (bool, string) {
			for each, pod := range pool.pods() {
				if each != besides && pod.Status.Phase == core.PodRunning {
					name, node = each, pod.Spec.NodeName
					return true, ""
				}
			}
			return false, scheduler.text()
		})
		return name, node
	}
	first, closed := runs("")
	_, err := t.plane.Client.CoreV1().Pods(pool.name).Patch(t.ctx, first, types.MergePatchType,
		[]byte(`{"status":{"phase":"Failed","reason":"OutOfcpu","message":"Pod was rejected: Node `+
			`didn't have enough resource: cpu"}}`), meta.PatchOptions{}, "status")
	t.must(err, "phase")
	_, node := runs(first)
	if node == closed {
		t.fail("the next pod went to %s again\n%s", node, scheduler.text())
	}
	scheduler.awaitFigure(t, "makeway_kubelet_refusals_total", 1)
	scheduler.end(t)
}

// budgetInTheMiddle: one eviction is on its way while the budget becomes tighter.
func budgetInTheMiddle(t *T) {
	pool, faulty, held := t.pool("strict", 2, 2, 0), t.faulty(), newHeld()
	defer faulty.stop()
	defer held.release()
	t.apply(groupText(pool.name, "old", "low", "all", 4))
	for i := range 4 {
		t.apply(PodText{Namespace: pool.name, Name: fmt.Sprintf("old-%d", i), Node: pool.node(i % 2),
			Class: "low", CPU: "1", Group: "old", Scheduler: "makeway"}.String())
	}
	t.apply("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: strict, " +
		"name: old}, spec: {minAvailable: 0, selector: {matchLabels: {app: old}}}}")
	pool.allows(4)
	scheduler := t.start(faulty.URL, "makeway", "--set", "budgets.mode=strict", "--set",
		"engine.leaveTimeout=10s")
	scheduler.says(t, "event=sight ")
	evictions, late := 0, ""
	faulty.obey(func(write Write) Fault {
		if !write.is("POST pods/eviction") {
			return Fault{}
		}
		if evictions++; evictions == 2 {
			late = write.Name
		}
		if write.Name == late { // Also when it is tried again: its answer does not come.
			return Fault{Hold: held.gate}
		}
		return Fault{}
	})
	t.apply(groupText(pool.name, "fresh", "high", "all", 4))
	var fresh []string
	for i := range 4 {
		fresh = append(fresh, fmt.Sprintf("fresh-%d", i))
		pool.ask(fresh[i], "high", "1", "fresh")
	}
	faulty.await(t, "POST pods/eviction", 4, scheduler)
	t.until(minutes(1), "three are evicted", func() (bool, string) {
		return pool.left("old-") == 1, scheduler.text()
	})
	pool.budget(`"100%"`)
	pool.allows(0)
	held.release()
	// The last one is tried again until `engine.leaveTimeout`, and then reported.
	t.until(minutes(1), "the budget refuses, and that is logged", func() (bool, string) {
		return strings.Contains(scheduler.text(), "event=refused") &&
			strings.Contains(scheduler.text(), "disruption budget"), scheduler.text()
	})
	pool.expectLeft("old-", 1)
	for name, pod := range pool.pods() {
		if strings.HasPrefix(name, "fresh-") && pod.Spec.NodeName != "" {
			t.fail("%s is bound before the whole gang can be", name)
		}
	}
	pool.budget("0")
	pool.bound(scheduler, fresh...)
	pool.expectLeft("old-", 0)
	scheduler.end(t)
}

// budget sets minAvailable of the pool's one.
func (p *Pool) budget(minimum string) {
	_, err := p.t.plane.Client.PolicyV1().PodDisruptionBudgets(p.name).Patch(p.t.ctx, "old",
		types.MergePatchType, []byte(`{"spec":{"minAvailable":`+minimum+`}}`), meta.PatchOptions{})
	p.t.must(err, "budget")
}

// allows waits until the budget does.
func (p *Pool) allows(count int32) {
	p.t.until(minutes(1), fmt.Sprintf("the budget allows %d", count), func() (bool, string) {
		budget, err := p.t.plane.Client.PolicyV1().PodDisruptionBudgets(p.name).Get(p.t.ctx, "old",
			meta.GetOptions{})
		p.t.must(err, "budget")
		return budget.Status.ObservedGeneration == budget.Generation &&
			budget.Status.DisruptionsAllowed == count, fmt.Sprintf("%+v", budget.Status)
	})
}

func neverPreempts(t *T) {
	pool := t.pool("never", 1, 2, 2)
	t.apply("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: never}, " +
		"value: 1000, preemptionPolicy: Never}")
	from := t.auditBytes()
	scheduler := t.scheduler("makeway", "event=sight ")
	pool.ask("patient", "never", "1", "")
	t.until(minutes(1), "its condition says that it has no place", func() (bool, string) {
		return condition(pool.pod("patient"), "PodScheduled").Reason == "Unschedulable",
			scheduler.text()
	})
	pool.expectLeft("low-", 2)
	if node := pool.pod("patient").Status.NominatedNodeName; node != "" {
		t.fail("it is nominated to %s", node)
	}
	pool.vanish("low-00-0")
	pool.bound(scheduler, "patient")
	pool.expectLeft("low-", 1)
	if writes := t.writes(from); writes["delete"] > 0 {
		t.fail("a pod was deleted: %v", writes)
	}
	scheduler.end(t)
}

// hostile: an API server accepts all of this. A pod that cannot be read is not protected by that,
// and does not keep other pods from being scheduled.
func hostile(t *T) {
	pool := t.pool("hostile", 1, 2, 1)
	t.apply(strings.Join([]string{
		`{apiVersion: v1, kind: Pod, metadata: {namespace: hostile, name: huge}, spec: {` +
			`schedulerName: makeway, containers: [{name: c, image: i, resources: {requests: ` +
			`{cpu: 9E}}}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {namespace: hostile, name: marks, labels: ` +
			`{makeway.dev/allow-preemption: perhaps}, annotations: {makeway.dev/preemption-cost: ` +
			`lots, makeway.dev/required-node: "no such node!!"}}, spec: {schedulerName: makeway, ` +
			`priority: 0, nodeName: hostile-00, terminationGracePeriodSeconds: 0, containers: ` +
			`[{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}`,
		`{apiVersion: v1, kind: Node, metadata: {name: hostile-99, labels: {pool: monsters}}, ` +
			`status: {capacity: {cpu: 9E, memory: 9E}, allocatable: {cpu: 9E, memory: 9E, ` +
			`pods: "110"}}}`,
		groupText("hostile", "crowd", "low", "all", 1000000),
	}, "\n---\n"))
	pool.ask("crowd-0", "low", "1", "crowd")
	t.settle()
	scheduler := t.scheduler("makeway", "event=sight ")
	pool.ask("urgent", "high", "1", "")
	pool.bound(scheduler, "urgent")
	t.until(minutes(1), "what cannot be read was the victim", func() (bool, string) {
		_, there := pool.pods()["marks"]
		return !there, scheduler.text()
	})
	pool.expectLeft("low-", 1)
	t.until(minutes(1), "the huge one has its reason", func() (bool, string) {
		message := condition(pool.pod("huge"), "PodScheduled").Message
		return strings.Contains(message, "too large"), message + "\n" + scheduler.text()
	})
	if refused := scheduler.figure(t, "makeway_objects_refused_total"); refused < 2 {
		t.fail("%d objects were counted as refused", refused)
	}
	scheduler.end(t)
	for _, name := range []string{"huge", "crowd-0"} {
		pool.vanish(name)
	}
	t.must(t.plane.Client.CoreV1().Nodes().Delete(t.ctx, "hostile-99", meta.DeleteOptions{}), "node")
}

// volumeIsMade: the harness plays the provisioner, which makes a volume on the selected node.
func volumeIsMade(t *T) {
	pool := t.pool("volumes", 2, 2, 0)
	t.apply(strings.Join([]string{
		"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made-late}, " +
			"provisioner: e2e.makeway.dev/by-hand, volumeBindingMode: WaitForFirstConsumer}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: volumes, name: data}, " +
			"spec: {storageClassName: made-late, accessModes: [ReadWriteOnce], resources: {requests: " +
			"{storage: 1Gi}}}}",
		"{apiVersion: v1, kind: Pod, metadata: {namespace: volumes, name: db}, spec: {schedulerName: " +
			"makeway, nodeSelector: {pool: volumes}, volumes: [{name: v, persistentVolumeClaim: " +
			"{claimName: data}}], containers: [{name: c, image: i, resources: {requests: {cpu: " +
			"\"1\"}}}]}}"}, "\n---\n"))
	scheduler := t.scheduler("makeway", "event=sight ")
	const selected = "volume.kubernetes.io/selected-node"
	var claim *core.PersistentVolumeClaim
	t.until(minutes(1), "the claim has a node", func() (bool, string) {
		var err error
		claim, err = t.plane.Client.CoreV1().PersistentVolumeClaims(pool.name).Get(t.ctx, "data",
			meta.GetOptions{})
		t.must(err, "claim")
		return claim.Annotations[selected] != "", scheduler.text()
	})
	node := claim.Annotations[selected]
	if db := pool.pod("db"); db.Spec.NodeName != "" || db.Status.NominatedNodeName != node {
		t.fail("bound to %q, nominated to %q; the claim is for %s", db.Spec.NodeName,
			db.Status.NominatedNodeName, node)
	}
	t.apply(fmt.Sprintf("{apiVersion: v1, kind: PersistentVolume, metadata: {name: made-by-hand}, "+
		"spec: {storageClassName: made-late, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "+
		"persistentVolumeReclaimPolicy: Delete, csi: {driver: e2e.makeway.dev, volumeHandle: v1}, "+
		"claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: volumes, name: data, "+
		"uid: %s}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "+
		"kubernetes.io/hostname, operator: In, values: [%s]}]}]}}}}", claim.UID, node))
	pool.bound(scheduler, "db")
	if bound := pool.pod("db").Spec.NodeName; bound != node {
		t.fail("bound to %s, the volume is on %s", bound, node)
	}
	scheduler.end(t)
}

// scheduledByFreshList: after the disturbances each node has a label and room that only a store
// that equals a fresh list knows. A pod that fits exactly is bound there, one that needs a
// thousandth more is not.
func scheduledByFreshList(t *T) {
	t.pool("fresh", 0, 0, 0)
	wire := t.wire()
	defer wire.stop()
	// On a busy machine an API server needs half a minute to end and begin; by then a Lease of 15 s
	// is lost.
	scheduler := t.start(wire.URL, "makeway", "--set", "live.leaseDuration=150s")
	scheduler.says(t, "event=sight ")
	var group sync.WaitGroup
	churn := &Churn{}
	churn.enough.Store(true)
	group.Go(func() { t.churn(t.longer(8), churn) })
	time.Sleep(time.Second)
	wire.cut()
	time.Sleep(time.Second)
	wire.closed.Store(true)
	wire.cut()
	time.Sleep(time.Second)
	t.forget()
	wire.closed.Store(false)
	group.Wait()
	t.must(t.plane.Client.CoreV1().Pods("churn").DeleteCollection(t.ctx, meta.DeleteOptions{},
		meta.ListOptions{}), "pods of the churn") // More than the nodes may hold.
	churned := &Pool{t: t, name: "churn"}
	t.until(minutes(2), "the pods of the churn are gone", func() (bool, string) {
		return len(churned.pods()) == 0, "some are there"
	})
	t.still()
	pool := &Pool{t: t, name: "fresh"}
	places := t.exactAsks(pool)
	names := make([]string, 0, len(places))
	for name := range places {
		names = append(names, name)
	}
	pool.bound(scheduler, names...)
	for name, node := range places {
		if bound := pool.pod(name).Spec.NodeName; bound != node {
			t.fail("%s is on %s, expected %s", name, bound, node)
		}
	}
	for name, pod := range pool.pods() {
		if strings.HasPrefix(name, "over-") && pod.Spec.NodeName != "" {
			t.fail("%s is on %s, where it has no room", name, pod.Spec.NodeName)
		}
	}
	lists, kinds := scheduler.figure(t, "makeway_lists_total"), 13
	if lists <= kinds {
		t.fail("only %d lists: no watch had to start again", lists)
	}
	t.note("%d connections, %d lists", wire.made.Load(), lists)
	scheduler.end(t)
	for name := range pool.pods() {
		pool.vanish(name)
	}
}

// exactAsks makes, for each node of the seed, first a pod that is a thousandth of a CPU too large,
// and then one that fits exactly; it returns where the latter must go.
func (t *T) exactAsks(pool *Pool) map[string]string {
	free, label, places := map[string]int64{}, map[string]string{}, map[string]string{}
	for i := range 3 {
		name := fmt.Sprintf("n%d", i+1)
		node, err := t.plane.Client.CoreV1().Nodes().Get(t.ctx, name, meta.GetOptions{})
		t.must(err, "node")
		free[name], label[name] = node.Status.Allocatable.Cpu().MilliValue(), node.Labels["seen"]
	}
	pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx, meta.ListOptions{})
	t.must(err, "pods")
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			free[pod.Spec.NodeName] -= container.Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, kind := range []string{"over", "exact"} {
		for node, seen := range label {
			cpu := free[node]
			if kind == "over" {
				cpu++
			} else {
				places["exact-"+node] = node
			}
			t.apply(strings.Replace(PodText{Namespace: pool.name, Name: kind + "-" + node, Class: "low",
				CPU: fmt.Sprintf("%dm", cpu), Scheduler: "makeway"}.String(), "spec: {",
				fmt.Sprintf("spec: {nodeSelector: {seen: %q}, ", seen), 1))
		}
	}
	return places
}
