package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func sessionTests() []Test {
	return []Test{
		{Name: "sessions: low ones fill a group, a high one comes, they leave and come back",
			Run: sessionsComeBack},
		{Name: "sessions: a partition gives notice, and a user resumes", Run: sessionIsResumed},
		{Name: "sessions: killed at each write of a preemption", Run: sessionsKilled},
		{Name: "sessions: killed at each write of a first start", Run: startKilled},
	}
}

var sessionKinds = []string{"resourcegroups", "partitions", "sessions"}

var sessionResource = schema.GroupVersionResource{Group: "makeway.dev", Version: "v1",
	Resource: "sessions"}

// soonBack: a preempted session comes back after a second.
var soonBack = append([]string{"--set", "session.backoffFirst=1s"}, shortLease...)

// SessionText describes a session with one kernel, which is called main, or with a second one, side.
type SessionText struct {
	Name, CPU, More string
	Priority        int
	HasTwo          bool
}

// Realm is a resource group with nodes, and a namespace for its sessions.
type Realm struct {
	*Pool
}

func (t *T) realm(name string, nodes, cpus int) *Realm {
	pool := t.pool(name, nodes, cpus, 0)
	t.apply(fmt.Sprintf("{apiVersion: makeway.dev/v1, kind: ResourceGroup, metadata: {name: %s}, "+
		"spec: {nodeSelector: {pool: %s}}}", name, name))
	return &Realm{pool}
}

func (r *Realm) create(session SessionText) { r.t.apply(r.text(session)) }

func (r *Realm) text(session SessionText) string {
	kernel := func(name string) string {
		return fmt.Sprintf("{name: %s, template: {metadata: {labels: {app: s}}, spec: "+
			"{terminationGracePeriodSeconds: 1, containers: [{name: c, image: i, resources: "+
			"{requests: {cpu: %q}}}]}}}", name, session.CPU)
	}
	kernels := kernel("main")
	if session.HasTwo {
		kernels += ", " + kernel("side")
	}
	return fmt.Sprintf("{apiVersion: makeway.dev/v1, kind: Session, metadata: {namespace: %s, "+
		"name: %s}, spec: {resourceGroup: %s, priority: %d, %skernels: [%s]}}", r.name,
		session.Name, r.name, session.Priority, session.More, kernels)
}

func (r *Realm) status(name string) map[string]any {
	object, err := r.t.plane.Dynamic.Resource(sessionResource).Namespace(r.name).Get(r.t.ctx, name,
		meta.GetOptions{})
	r.t.must(err, "session "+name)
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	return status
}

// phases waits until they are in that phase; the word may be "leaving".
func (r *Realm) phases(scheduler *Scheduler, phase string, names ...string) {
	r.t.until(minutes(1), strings.Join(names, ", ")+" "+phase, func() (bool, string) {
		for _, name := range names {
			status := r.status(name)
			is := status["phase"]
			if status["endsAt"] != nil {
				is = "leaving"
			}
			if is != phase {
				return false, fmt.Sprintf("%s is %v\n%s", name, status, scheduler.text())
			}
		}
		return true, ""
	})
}

// runs waits until these pods run.
func (r *Realm) runs(scheduler *Scheduler, pods ...string) {
	r.t.until(minutes(1), strings.Join(pods, ", ")+" run", func() (bool, string) {
		there := r.pods()
		for _, name := range pods {
			if there[name].Status.Phase != core.PodRunning {
				return false, name + " does not run\n" + scheduler.text()
			}
		}
		return true, ""
	})
}

// finish ends a pod as its kubelet would.
func (r *Realm) finish(pod, phase string) {
	_, err := r.t.plane.Client.CoreV1().Pods(r.name).Patch(r.t.ctx, pod, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"status":{"phase":%q}}`, phase)), meta.PatchOptions{}, "status")
	r.t.must(err, "phase of "+pod)
}

func (r *Realm) remove(names ...string) {
	for _, name := range names {
		err := r.t.plane.Dynamic.Resource(sessionResource).Namespace(r.name).Delete(r.t.ctx, name,
			meta.DeleteOptions{})
		if !errors.IsNotFound(err) {
			r.t.must(err, "deleting "+name)
		}
	}
	r.t.until(minutes(1), "their pods are gone", func() (bool, string) {
		left := r.pods()
		return len(left) == 0, fmt.Sprintf("%d are there", len(left))
	})
}

// created are the pods that our user has made since then: by the answer's code.
func (r *Realm) created(from int64) map[string]int {
	count := map[string]int{}
	for _, line := range r.t.audited(schedulerUser, from) {
		prefix := "create /api/v1/namespaces/" + r.name + "/pods "
		if code, found := strings.CutPrefix(line, prefix); found {
			count[code]++
		}
	}
	return count
}

// awaitCreated: at least so many, of which the last one may not be in the audit log yet.
func (r *Realm) awaitCreated(from int64, wanted int) (created map[string]int) {
	r.t.until(minutes(1), fmt.Sprintf("%d pods were created", wanted), func() (bool, string) {
		created = r.created(from)
		return created["201"] >= wanted, fmt.Sprint(created)
	})
	return created
}

// waits: one more finds no room, and shows that it waits and why, also as `kubectl get` prints it.
func (r *Realm) waits(scheduler *Scheduler) {
	r.create(SessionText{Name: "late", CPU: "1", Priority: 1})
	const why = "has no room in resource group seats"
	r.t.until(minutes(1), "late says why it waits", func() (bool, string) {
		status := r.status("late")
		conditions, _, _ := unstructured.NestedSlice(status, "conditions")
		text := fmt.Sprint(conditions)
		return status["phase"] == "pending" && strings.Contains(text, "makeway.dev/Scheduled") &&
			strings.Contains(text, why), fmt.Sprint(status, scheduler.text())
	})
	table, err := r.t.plane.Client.CoreV1().RESTClient().Get().
		AbsPath("/apis/makeway.dev/v1/namespaces/"+r.name+"/sessions/late").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(r.t.ctx)
	r.t.must(err, "table")
	if !strings.Contains(string(table), `"name":"Waits"`) || !strings.Contains(string(table), why) {
		r.t.fail("kubectl get would show %s", table)
	}
	r.t.must(r.t.plane.Dynamic.Resource(sessionResource).Namespace(r.name).Delete(r.t.ctx, "late",
		meta.DeleteOptions{}), "late")
}

func sessionsComeBack(t *T) {
	undo := t.define(sessionKinds...)
	defer undo()
	realm := t.realm("seats", 2, 2)
	from := t.auditBytes()
	scheduler := t.scheduler("makeway", "event=sight ", soonBack...)
	lows := []string{"low-0", "low-1", "low-2", "low-3"}
	for _, name := range lows {
		realm.create(SessionText{Name: name, CPU: "1", Priority: 1, More: "requeue: true, "})
	}
	realm.phases(scheduler, "running", lows...)
	realm.runs(scheduler, "low-0-main-0", "low-1-main-0", "low-2-main-0", "low-3-main-0")
	pod := realm.pod("low-0-main-0")
	owner := meta.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Session" || owner.Name != "low-0" ||
		pod.Spec.SchedulerName != "makeway" {
		t.fail("pod %v", pod)
	}
	realm.waits(scheduler)
	realm.create(SessionText{Name: "high", CPU: "2", Priority: 50})
	realm.phases(scheduler, "running", "high")
	realm.runs(scheduler, "high-main-0")
	var victims []string
	t.until(minutes(1), "two are off the queue, or wait again", func() (bool, string) {
		victims = nil
		for _, name := range lows {
			status := realm.status(name)
			if status["preemptions"] == int64(1) {
				victims = append(victims, name)
				if status["phase"] != "preempted" || status["fate"] != "requeues" ||
					status["preemptedBy"] != "Session seats/high" || status["resumeAfter"] == nil {
					return false, fmt.Sprint(status)
				}
			}
		}
		return len(victims) == 2, fmt.Sprint(victims)
	})
	node := realm.pod("high-main-0").Spec.NodeName
	for name, pod := range realm.pods() {
		if name != "high-main-0" && pod.Spec.NodeName == node {
			t.fail("%s is on the node of high", name)
		}
	}
	t.until(minutes(1), "two pods have an event that they are preempted", func() (bool, string) {
		events, err := t.plane.Client.EventsV1().Events(realm.name).List(t.ctx, meta.ListOptions{})
		t.must(err, "events")
		found := 0
		for _, event := range events.Items {
			if event.Reason == "Preempted" {
				found++
			}
		}
		return found == 2, fmt.Sprint(found)
	})
	// It ends, and they come back.
	realm.finish("high-main-0", "Succeeded")
	realm.phases(scheduler, "ended", "high")
	realm.phases(scheduler, "running", lows...)
	for _, name := range victims {
		realm.runs(scheduler, name+"-main-1")
	}
	if created := realm.awaitCreated(from, 7); created["201"] != 7 || len(created) != 1 {
		t.fail("pods created: %v, expected seven", created)
	}
	// A deleted pod takes its session back to the queue, and no other.
	rest := slices.DeleteFunc(slices.Clone(lows), func(name string) bool {
		return slices.Contains(victims, name)
	})
	uid := realm.pod(rest[0] + "-main-0").UID
	t.must(t.plane.Client.CoreV1().Pods(realm.name).Delete(t.ctx, rest[0]+"-main-0",
		meta.DeleteOptions{}), "delete")
	t.until(minutes(1), "it runs again", func() (bool, string) {
		pod, found := realm.pods()[rest[0]+"-main-0"]
		return found && pod.UID != uid && pod.Status.Phase == core.PodRunning, scheduler.text()
	})
	if status := realm.status(rest[0]); status["preemptions"] != int64(0) {
		t.fail("%v", status)
	}
	realm.phases(scheduler, "running", lows...)
	realm.remove(append(lows, "high")...)
	scheduler.end(t)
}

func (t *T) time(text any) time.Time {
	when, err := time.Parse(time.RFC3339, fmt.Sprint(text))
	t.must(err, "time")
	return when
}

func sessionIsResumed(t *T) {
	undo := t.define(sessionKinds...)
	defer undo()
	realm := t.realm("desks", 1, 2)
	for _, partition := range []string{
		"{name: day}, spec: {resourceGroup: desks, tier: 2}",
		"{name: night}, spec: {resourceGroup: desks, tier: 1, preemptible: true, mode: requeue, " +
			"graceTime: 7s}",
		"{name: idle}, spec: {resourceGroup: desks, tier: 9, preemptible: true}",
	} {
		t.apply("{apiVersion: makeway.dev/v1, kind: Partition, metadata: " + partition + "}")
	}
	scheduler := t.scheduler("makeway", "event=sight ", soonBack...)
	realm.create(SessionText{Name: "notebook", CPU: "2", Priority: 90,
		More: "partition: night, type: interactive, "})
	realm.runs(scheduler, "notebook-main-0")
	realm.phases(scheduler, "running", "notebook")
	t.until(minutes(1), "a partition that cannot work says so", func() (bool, string) {
		found := t.conditionOf("partitions", "idle", "makeway.dev/Accepted")
		return found["status"] == "False" && found["reason"] == "CannotWork", fmt.Sprint(found)
	})
	wrong := t.makeway("session", "resume", "--kubeconfig", t.schedulerConfig(""), "desks/notebook")
	if wrong.Status == 0 || !strings.Contains(wrong.Err, "Session desks/notebook: it is running") {
		t.fail("%v", wrong)
	}
	// Held, so that its notice can be seen.
	realm.finalizers(`["e2e.makeway.dev/hold"]`)
	realm.create(SessionText{Name: "report", CPU: "2", Priority: 1, More: "partition: day, "})
	realm.phases(scheduler, "leaving", "notebook")
	pod := realm.leaving("notebook-", scheduler)
	// kwok deletes at once, and the server then forgets how long the pod was given.
	leaving := realm.status("notebook")
	notice := t.time(leaving["endsAt"]).Sub(t.time(leaving["preemptedAt"]))
	if notice != 7*time.Second {
		t.fail("%s of notice: %v", notice, leaving)
	}
	if mark := condition(&pod, "DisruptionTarget"); mark.Reason != "PreemptionByScheduler" {
		t.fail("mark %v", mark)
	}
	realm.finalizers("null")
	realm.phases(scheduler, "running", "report")
	realm.phases(scheduler, "preempted", "notebook")
	status := realm.status("notebook")
	if status["fate"] != "on-request" || status["preemptedBy"] != "Session desks/report" {
		t.fail("%v", status)
	}
	realm.runs(scheduler, "report-main-0")
	realm.finish("report-main-0", "Failed")
	realm.phases(scheduler, "ended", "report")
	resumed := t.plugin(t.schedulerConfig(""), "session", "resume", "desks/notebook")
	t.equal("resume", "Session desks/notebook is pending again.\n", resumed.Out+resumed.Err)
	realm.runs(scheduler, "notebook-main-1")
	gone := t.makeway("session", "resume", "--kubeconfig", t.schedulerConfig(""), "desks/missing")
	if gone.Status == 0 || !strings.Contains(gone.Err, "there is no such session in the cluster") {
		t.fail("%v", gone)
	}
	realm.remove("notebook", "report")
	scheduler.end(t)
}

func sessionsKilled(t *T) {
	undo := t.define(sessionKinds...)
	defer undo()
	realm, faulty := t.realm("beds", 1, 2), t.faulty()
	defer faulty.stop()
	t.killedEverywhere(faulty, func(round int) Story { return &Ousting{realm, round, 0} },
		func(number int, seen bool) bool { return number%2 == 0 && seen == (number%4 == 0) })
}

func startKilled(t *T) {
	undo := t.define(sessionKinds...)
	defer undo()
	realm, faulty := t.realm("births", 2, 2), t.faulty()
	defer faulty.stop()
	t.killedEverywhere(faulty, func(round int) Story { return &Birth{realm, round, 0} },
		func(number int, seen bool) bool { return seen == (number%2 == 0) })
}

// Birth: a session of two kernels starts for the first time.
type Birth struct {
	*Realm
	round int
	from  int64 // Of the audit log.
}

func (b *Birth) session() string { return fmt.Sprintf("fresh%d", b.round) }

func (b *Birth) pods() []string { return []string{b.session() + "-main-0", b.session() + "-side-0"} }

func (b *Birth) prepare() {
	b.from = b.t.auditBytes()
	b.create(SessionText{Name: b.session(), CPU: "2", Priority: 1, HasTwo: true})
}

func (b *Birth) isOver() bool {
	there := b.Realm.pods()
	for _, name := range b.pods() {
		if there[name].Status.Phase != core.PodRunning {
			return false
		}
	}
	return true
}

// judge: it runs where its status says, and nothing was made twice.
func (b *Birth) judge(scheduler *Scheduler, _ *Faulty) {
	b.phases(scheduler, "running", b.session())
	b.runs(scheduler, b.pods()...)
	status := b.status(b.session())
	kernels, _, _ := unstructured.NestedSlice(status, "kernels")
	for i, name := range b.pods() {
		if node := kernels[i].(map[string]any)["node"]; b.pod(name).Spec.NodeName != node {
			b.t.fail("%s is not on %v: %v", name, node, status)
		}
	}
	created := b.awaitCreated(b.from, 2)
	if len(b.Realm.pods()) != 2 || created["201"] != 2 || status["preemptions"] == int64(1) {
		b.t.fail("pods created: %v, status %v", created, status)
	}
	b.remove(b.session())
}

// occupy makes a session that runs, as a scheduler before us would have left it.
func (r *Realm) occupy(name string) {
	r.create(SessionText{Name: name, CPU: "2", Priority: 1, More: "requeue: true, "})
	sessions := r.t.plane.Dynamic.Resource(sessionResource).Namespace(r.name)
	object, err := sessions.Patch(r.t.ctx, name, types.MergePatchType, []byte(fmt.Sprintf(
		`{"status":{"phase":"running","preemptions":0,"kernels":[{"name":"main","node":%q}]}}`,
		r.node(0))), meta.PatchOptions{}, "status")
	r.t.must(err, "status")
	pod := PodText{Namespace: r.name, Name: name + "-main-0", Node: r.node(0), CPU: "2",
		Scheduler: "makeway"}.String()
	r.t.apply(strings.Replace(pod, "labels: ", fmt.Sprintf("ownerReferences: [{apiVersion: "+
		"makeway.dev/v1, kind: Session, name: %s, uid: %s, controller: true}], labels: ", name,
		object.GetUID()), 1))
}

// Ousting: a session runs, and one that needs its room comes.
type Ousting struct {
	*Realm
	round int
	from  int64 // Of the audit log.
}

func (o *Ousting) low() string  { return fmt.Sprintf("low%d", o.round) }
func (o *Ousting) high() string { return fmt.Sprintf("high%d", o.round) }

func (o *Ousting) prepare() {
	o.occupy(o.low())
	o.runs(&Scheduler{}, o.low()+"-main-0")
	o.create(SessionText{Name: o.high(), CPU: "2", Priority: 50})
	o.from = o.t.auditBytes()
}

func (o *Ousting) isOver() bool {
	return o.pods()[o.high()+"-main-0"].Status.Phase == core.PodRunning
}

// judge: the high one runs, the low one was preempted once and waits; nothing was made twice.
func (o *Ousting) judge(scheduler *Scheduler, _ *Faulty) {
	o.phases(scheduler, "running", o.high())
	o.runs(scheduler, o.high()+"-main-0")
	o.phases(scheduler, "preempted", o.low())
	status := o.status(o.low())
	if status["preemptions"] != int64(1) || status["preemptedBy"] != "Session beds/"+o.high() {
		o.t.fail("%v", status)
	}
	for name := range o.pods() {
		if name != o.high()+"-main-0" {
			o.t.fail("pod %s is there", name)
		}
	}
	if created := o.awaitCreated(o.from, 1); created["201"] != 1 {
		o.t.fail("pods created: %v", created)
	}
	o.remove(o.low(), o.high())
}
