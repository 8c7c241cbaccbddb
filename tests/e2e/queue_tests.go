package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func queueTests() []Test {
	return []Test{
		{Name: "queues: the tables of seed 001, number by number", Run: seedTables},
		{Name: "queues: one over running pods, one deleted, a stranger's status", Run: queueLives},
		{Name: "queues: killed between status and eviction", Run: killedBeforeEviction},
		{Name: "queues: killed at each write of a claim", Run: killedAtEachClaim, Night: true},
	}
}

var queueResource = schema.GroupVersionResource{Group: "makeway.dev", Version: "v1",
	Resource: "queues"}

// Shares are queues on one node, and nothing else to divide: pods outside hold all other nodes.
type Shares struct {
	*Pool
	undo func()
}

func (t *T) shares(name string, cpus int, memory string) *Shares {
	undo := t.define("queues")
	shares := &Shares{Pool: t.pool(name, 0, 0, 0), undo: undo}
	shares.holdAllNodes()
	t.apply(strings.ReplaceAll(nodeText(shares.node(0), cpus), "32Gi", memory))
	t.settle()
	return shares
}

// holdAllNodes: a pod outside of queues holds each of those that are there.
func (p *Pool) holdAllNodes() {
	nodes, err := p.t.plane.Client.CoreV1().Nodes().List(p.t.ctx, meta.ListOptions{})
	p.t.must(err, "nodes")
	var documents []string
	for _, node := range nodes.Items {
		documents = append(documents, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: "+
			"{namespace: %s, name: all-of-%s}, spec: {nodeName: %s, terminationGracePeriodSeconds: "+
			"0, containers: [{name: c, image: i, resources: {requests: {cpu: 1k, memory: 1Ti}}}]}}",
			p.name, node.Name, node.Name))
	}
	p.t.apply(strings.Join(documents, "\n---\n"))
}

// end removes everything: other tests have the cluster for themselves.
func (s *Shares) end() {
	for _, process := range s.t.plane.schedulers {
		process.stop(syscall.SIGTERM, 20*time.Second)
	}
	s.finalizers("null")
	for name := range s.pods() {
		s.vanish(name)
	}
	s.t.must(s.t.plane.Client.CoreV1().Nodes().Delete(s.t.ctx, s.node(0), meta.DeleteOptions{}),
		"node")
	s.undo()
}

func (s *Shares) queue(name string, weight int) {
	s.t.must(s.t.tryCreate(fmt.Sprintf("{kind: Queue, metadata: {name: %s}, spec: {weight: %d}}",
		name, weight)), name)
}

// status is written by an administrator.
func (s *Shares) status(queue, text string) {
	_, err := s.t.plane.Dynamic.Resource(queueResource).Patch(s.t.ctx, queue, types.MergePatchType,
		[]byte(`{"status":`+text+`}`), meta.PatchOptions{}, "status")
	s.t.must(err, "status of "+queue)
}

// ofQueue is how a pod says where it belongs.
func ofQueue(queue string) string { return "labels: {makeway.dev/queue: " + queue + "}" }

// member is a pod of a queue; without a node it asks.
func (s *Shares) member(belongs, name, class, cpu, node, finalizers string) {
	spec := ""
	if node != "" {
		spec = "nodeName: " + node + ", "
	}
	s.t.apply(fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {namespace: %s, name: %s, "+
		"finalizers: [%s], %s}, spec: {%sschedulerName: makeway, priorityClassName: "+
		"%s, terminationGracePeriodSeconds: 1, containers: [{name: c, image: i, resources: "+
		"{requests: {cpu: \"%s\", memory: 1Gi}}}]}}", s.name, name, finalizers, belongs, spec, class, cpu))
}

const holdPod = "e2e.makeway.dev/hold"

// table is what `kubectl get queues` shows, as the seed writes it: deserved, allocated, used and
// preempting of each queue, CPUs and memory.
func (s *Shares) table() string {
	list, err := s.t.plane.Dynamic.Resource(queueResource).List(s.t.ctx, meta.ListOptions{})
	s.t.must(err, "queues")
	text := ""
	for _, item := range list.Items {
		text += item.GetName()
		for _, field := range []string{"deserved", "allocated", "used", "preempting"} {
			amounts, _, _ := unstructured.NestedMap(item.Object, "status", field)
			text += " |"
			for _, name := range []string{"cpu", "memory"} {
				amount, err := resource.ParseQuantity(fmt.Sprint(amounts[name]))
				if err != nil {
					text += " ?"
					continue
				}
				text += " " + amount.String()
			}
		}
		text += "\n"
	}
	return sorted(text)
}

// shows waits for a table.
func (s *Shares) shows(scheduler *Scheduler, rows ...string) {
	wanted := strings.Join(rows, "\n")
	s.t.until(minutes(1), "queues show\n"+wanted, func() (bool, string) {
		found := s.table()
		return found == wanted, "they show\n" + found + "\n" + scheduler.text()
	})
}

// leavingNames are the terminating pods.
func (s *Shares) leavingNames() string {
	var names []string
	for name, pod := range s.pods() {
		if pod.DeletionTimestamp != nil {
			names = append(names, name)
		}
	}
	return sorted(strings.Join(names, "\n"))
}

// agrees: a plan of the cluster as it is would write no other status, and evict nothing for a
// queue.
func (s *Shares) agrees(scheduler *Scheduler, arguments ...string) {
	arguments = append([]string{"plan", "--kubeconfig", s.t.reader(), "-o", "json"}, arguments...)
	s.t.until(minutes(1), "makeway plan agrees with the queues", func() (bool, string) {
		var plan struct {
			QueueStatus []any
			Actions     []struct{ Type, For string }
		}
		text := s.t.succeed(arguments...)
		s.t.must(json.Unmarshal([]byte(text), &plan), "plan")
		for _, action := range plan.Actions {
			if strings.HasPrefix(action.For, "Queue ") {
				return false, text
			}
		}
		return len(plan.QueueStatus) == 0, text + scheduler.text()
	})
}

var byWeight = []string{"--set", "queue.division=by-weight"}

// seedTables replays seed 001: a queue that is over what it may use loses a pod; a new
// queue gets what is unused at once, and the rest when the pods that hold it are gone.
func seedTables(t *T) {
	seed := t.shares("seed001", 9, "27Gi")
	defer seed.end()
	seed.queue("queue-1", 2)
	seed.queue("queue-2", 4)
	for _, queue := range []string{"queue-1", "queue-2"} {
		for i, cpu := range []string{"2", "2", "1"} {
			class := map[bool]string{true: "low", false: "high"}[i == 2]
			seed.member(ofQueue(queue), fmt.Sprintf("%s-pod-%d", queue, i+1), class, cpu,
				seed.node(0), holdPod)
		}
	}
	t.settle()
	seed.status("queue-1", `{"allocated":{"cpu":"3","memory":"9Gi"}}`)
	seed.status("queue-2", `{"allocated":{"cpu":"6","memory":"18Gi"}}`)
	from := t.auditBytes()
	journal := t.dir + "/journal"
	scheduler := t.scheduler("makeway", "event=sight ",
		append(append([]string{"--journal", journal}, shortLease...), byWeight...)...)
	seed.shows(scheduler, "queue-1 | 3 9Gi | 3 9Gi | 5 3Gi | 0 0",
		"queue-2 | 6 18Gi | 6 18Gi | 5 3Gi | 0 0")
	victim := seed.leaving("queue-1-", scheduler).Name
	if victim == "queue-1-pod-3" || seed.leavingNames() != victim {
		t.fail("%s leaves, expected pod-1 or pod-2 of queue-1", seed.leavingNames())
	}
	seed.agrees(scheduler, byWeight...)
	seed.letGo(victim)
	seed.shows(scheduler, "queue-1 | 3 9Gi | 3 9Gi | 3 2Gi | 0 0",
		"queue-2 | 6 18Gi | 6 18Gi | 5 3Gi | 0 0")

	seed.queue("queue-3", 3)
	seed.shows(scheduler, "queue-1 | 2 6Gi | 2 6Gi | 3 2Gi | 0 0",
		"queue-2 | 4 12Gi | 4 12Gi | 5 3Gi | 0 0", "queue-3 | 3 9Gi | 1 9Gi | 0 0 | 2 0")
	t.until(minutes(1), "pod-3 of both leaves", func() (bool, string) {
		return seed.leavingNames() == "queue-1-pod-3\nqueue-2-pod-3", seed.leavingNames()
	})
	seed.agrees(scheduler, byWeight...)
	seed.letGo("queue-1-pod-3")
	seed.shows(scheduler, "queue-1 | 2 6Gi | 2 6Gi | 2 1Gi | 0 0",
		"queue-2 | 4 12Gi | 4 12Gi | 5 3Gi | 0 0", "queue-3 | 3 9Gi | 2 9Gi | 0 0 | 1 0")
	seed.letGo("queue-2-pod-3")
	seed.shows(scheduler, "queue-1 | 2 6Gi | 2 6Gi | 2 1Gi | 0 0",
		"queue-2 | 4 12Gi | 4 12Gi | 4 2Gi | 0 0", "queue-3 | 3 9Gi | 3 9Gi | 0 0 | 0 0")

	seed.member(ofQueue("queue-3"), "queue-3-pod-1", "low", "3", "", holdPod)
	seed.bound(scheduler, "queue-3-pod-1")
	seed.shows(scheduler, "queue-1 | 2 6Gi | 2 6Gi | 2 1Gi | 0 0",
		"queue-2 | 4 12Gi | 4 12Gi | 4 2Gi | 0 0", "queue-3 | 3 9Gi | 3 9Gi | 3 1Gi | 0 0")
	seed.agrees(scheduler, byWeight...)
	scheduler.end(t)
	t.contains(t.succeed("replay", journal), "Every plan is the recorded one")
	t.seenInTable("queue-3", "3", `{"cpu":"3","memory":"9Gi"}`)
	wrote := 0
	for _, line := range t.audited(schedulerUser, from) {
		if strings.Contains(line, "/queues/") && strings.HasPrefix(line, "patch ") &&
			strings.HasSuffix(line, " 200") {
			wrote++
		}
	}
	t.note("%d status writes of 3 queues for 7 tables", wrote)
	if wrote > 14 {
		t.fail("%d status writes, and at most 14 are news", wrote)
	}
}

// letGo removes a terminating pod.
func (s *Shares) letGo(name string) {
	_, err := s.t.plane.Client.CoreV1().Pods(s.name).Patch(s.t.ctx, name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), meta.PatchOptions{})
	s.t.must(err, name)
}

// seenInTable: what kubectl prints of a queue.
func (t *T) seenInTable(queue string, cells ...string) {
	text, err := t.plane.Client.Discovery().RESTClient().Get().
		AbsPath("/apis/makeway.dev/v1/queues/"+queue).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.ctx)
	t.must(err, "table of "+queue)
	var table meta.Table
	t.must(json.Unmarshal(text, &table), "table of "+queue)
	printed := fmt.Sprint(table.Rows[0].Cells...)
	t.contains(printed, cells...)
}

// queueLives: what others do with queues.
func queueLives(t *T) {
	shares := t.shares("queuelives", 4, "32Gi")
	defer shares.end()
	shares.queue("b", 1)
	shares.member("labels: {kueue.x-k8s.io/queue-name: a}", "of-kueue", "low", "1", shares.node(0), "")
	shares.member("annotations: {scheduling.volcano.sh/queue-name: a}", "of-volcano", "low", "1",
		shares.node(0), "")
	shares.member(ofQueue("b"), "of-b", "low", "1", shares.node(0), "")
	t.settle()
	scheduler := t.scheduler("makeway", "event=sight ", shortLease...)
	shares.shows(scheduler, "b | 1 1Gi | 1 1Gi | 1 1Gi | 0 0")
	// Over running pods.
	shares.queue("a", 1)
	both := []string{"a | 2 2Gi | 2 2Gi | 2 2Gi | 0 0", "b | 1 1Gi | 1 1Gi | 1 1Gi | 0 0"}
	shares.shows(scheduler, both...)
	// Two strangers, one in words that mean something.
	shares.status("a", `{"allocated":{"cpu":"0"},"used":{"cpu":"9"}}`)
	shares.status("b", `{"preempting":{"cpu":"3"},"deserved":{"cpu":"2","example.com/gpu":"1"}}`)
	shares.shows(scheduler, both...)
	shares.agrees(scheduler)
	shares.accepted("orphan")
	// While it holds room.
	t.must(t.plane.Dynamic.Resource(queueResource).Delete(t.ctx, "b", meta.DeleteOptions{}), "b")
	shares.member(ofQueue("a"), "of-a", "high", "1", "", "")
	shares.bound(scheduler, "of-a")
	shares.shows(scheduler, "a | 3 3Gi | 3 3Gi | 3 3Gi | 0 0")
	if leaving := shares.leavingNames(); leaving != "" {
		t.fail("%s leaves", leaving)
	}
	shares.agrees(scheduler)
	scheduler.end(t)
}

// conditionOf an object of ours that has no namespace; nil: it has none of that type.
func (t *T) conditionOf(plural, name, kind string) map[string]any {
	object, err := t.plane.Dynamic.Resource(schema.GroupVersionResource{Group: "makeway.dev",
		Version: "v1", Resource: plural}).Get(t.ctx, name, meta.GetOptions{})
	t.must(err, name)
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		if found := each.(map[string]any); found["type"] == kind {
			return found
		}
	}
	return nil
}

// accepted: a queue whose parent is not there says so, in the words of `makeway check`, until the
// parent comes.
func (s *Shares) accepted(name string) {
	s.t.must(s.t.tryCreate("{kind: Queue, metadata: {name: "+name+"}}"), name)
	s.status(name, `{"conditions":[{"type":"example.com/Reviewed","status":"True",`+
		`"observedGeneration":1}]}`)
	_, err := s.t.plane.Dynamic.Resource(queueResource).Patch(s.t.ctx, name, types.MergePatchType,
		[]byte(`{"spec":{"parent":"missing"}}`), meta.PatchOptions{})
	s.t.must(err, name)
	condition := func() map[string]any {
		return s.t.conditionOf("queues", name, "makeway.dev/Accepted")
	}
	s.t.until(minutes(1), name+" is not accepted", func() (bool, string) {
		return condition()["status"] == "False", fmt.Sprint(condition())
	})
	checked := s.t.makeway("check", "--kubeconfig", s.t.reader())
	message := strings.SplitN(fmt.Sprint(condition()["message"]), ": ", 3)
	if len(message) < 3 || !strings.Contains(checked.Out+checked.Err, message[1]) {
		s.t.fail("makeway check does not say %q:\n%s%s", message, checked.Out, checked.Err)
	}
	s.queue("missing", 1)
	s.t.until(minutes(1), name+" is accepted", func() (bool, string) {
		return condition()["status"] == "True", fmt.Sprint(condition())
	})
	// The condition of another client is kept, whatever we wrote beside it.
	other := s.t.conditionOf("queues", name, "example.com/Reviewed")
	if other["observedGeneration"] != int64(1) {
		s.t.fail("the condition of another client is %v", other)
	}
	for _, queue := range []string{name, "missing"} {
		s.t.must(s.t.plane.Dynamic.Resource(queueResource).Delete(s.t.ctx, queue,
			meta.DeleteOptions{}), queue)
	}
}

// Claim: a new queue claims half of what an old one uses.
type Claim struct {
	shares *Shares
	round  int
}

func (c Claim) name(what string) string { return fmt.Sprintf("%s%d", what, c.round) }

func (c Claim) prepare() {
	s := c.shares
	s.queue(c.name("old"), 1)
	for i := range 4 {
		s.member(ofQueue(c.name("old")), fmt.Sprintf("%s-%d", c.name("old"), i), "high", "1",
			s.node(0), "")
	}
	s.t.settle()
	s.status(c.name("old"), `{"allocated":{"cpu":"4","memory":"4Gi"}}`)
	s.queue(c.name("new"), 1)
	for i := range 2 {
		s.member(ofQueue(c.name("new")), fmt.Sprintf("%s-%d", c.name("new"), i), "low", "1", "", "")
	}
}

func (c Claim) rows() []string {
	return []string{c.name("new") + " | 2 2Gi | 2 2Gi | 2 2Gi | 0 0",
		c.name("old") + " | 2 2Gi | 2 2Gi | 2 2Gi | 0 0"}
}

func (c Claim) isOver() bool { return c.shares.table() == strings.Join(c.rows(), "\n") }

// judge: half of the old pods are there, the new ones run, and the queues say so.
func (c Claim) judge(scheduler *Scheduler, _ *Faulty) {
	s := c.shares
	s.bound(scheduler, c.name("new")+"-0", c.name("new")+"-1")
	s.expectLeft(c.name("old"), 2)
	s.shows(scheduler, c.rows()...)
	s.agrees(scheduler)
	for _, queue := range []string{c.name("old"), c.name("new")} {
		s.t.must(s.t.plane.Dynamic.Resource(queueResource).Delete(s.t.ctx, queue,
			meta.DeleteOptions{}), queue)
		for name := range s.pods() {
			if strings.HasPrefix(name, queue) {
				s.vanish(name)
			}
		}
	}
}

// killedBeforeEviction: both statuses are on the server, and nothing was evicted.
func killedBeforeEviction(t *T) {
	shares, faulty := t.shares("claims", 4, "32Gi"), t.faulty()
	defer shares.end()
	defer faulty.stop()
	mark := Moment{"mark", func(write Write) bool {
		return write.is("PATCH pods/status") && strings.HasPrefix(write.Name, "old")
	}, false}
	if !t.killedAt(Claim{shares, 1}, faulty, mark) {
		t.fail("no pod was marked: %v", faulty.all())
	}
	written := map[string]bool{}
	for _, write := range faulty.writes("PATCH queues/status") {
		written[write.Name] = written[write.Name] || write.Code == 200
	}
	if len(written) != 2 || !written["old1"] || !written["new1"] {
		t.fail("the statuses were not written first: %v", faulty.all())
	}
}

func killedAtEachClaim(t *T) {
	shares, faulty := t.shares("claimsnight", 4, "32Gi"), t.faulty()
	defer shares.end()
	defer faulty.stop()
	t.killedEverywhere(faulty, func(round int) Story { return Claim{shares, round} },
		func(int, bool) bool { return true })
}
