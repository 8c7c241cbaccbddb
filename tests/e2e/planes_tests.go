package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	autoscaling "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func planesTests() []Test {
	return []Test{
		{Name: "planes: a preempted replica's life, and one plane is cut off and back",
			Run: lifeOverPlanes},
		{Name: "planes: killed at each write, at home and in the plane", Run: planesKilled,
			Night: true},
	}
}

var schedules = schema.GroupVersionResource{Group: "makeway.dev", Version: "v1",
	Resource: "replicaschedules"}

const planeUser = "system:serviceaccount:makeway:makeway-plane"

// Fleet is home with the schedules, and two planes beside it.
type Fleet struct {
	*T
	east, west *Beside
	undo       func()
}

func (t *T) fleet() *Fleet {
	for _, process := range t.plane.schedulers {
		process.stop(syscall.SIGTERM, 20*time.Second)
	}
	undo := t.define("replicaschedules")
	fleet := t.fleetOf([]string{"e1", "e2", "e3"}, []string{"w1"})
	fleet.undo = undo
	return fleet
}

// fleetOf these nodes, where our kinds are there.
func (t *T) fleetOf(east, west []string) *Fleet {
	_, err := t.plane.Client.CoreV1().Namespaces().Get(t.ctx, "fleet", meta.GetOptions{})
	if errors.IsNotFound(err) {
		t.apply(`{apiVersion: v1, kind: Namespace, metadata: {name: fleet, labels: ` +
			`{makeway.dev/trusted: "true"}}}`)
	}
	return &Fleet{T: t, undo: func() {}, east: t.beside("east", east...),
		west: t.beside("west", west...)}
}

func (f *Fleet) stop() {
	f.east.stop()
	f.west.stop()
	f.undo()
}

func (f *Fleet) schedule(name string, priority, unmet int, planes string) {
	f.apply(scheduleText(name, priority, unmet, planes))
}

func scheduleText(name string, priority, unmet int, planes string) string {
	return fmt.Sprintf(`{apiVersion: makeway.dev/v1, kind: ReplicaSchedule, metadata: {name: %s, `+
		`namespace: fleet}, spec: {priority: %d, unmet: %d, resources: {nvidia.com/gpu: 1}, `+
		`selector: {app: %s}, planes: [%s]}}`, name, priority, unmet, name, planes)
}

// status of a schedule as JSON.
func (f *Fleet) status(name string) string {
	object, err := f.plane.Dynamic.Resource(schedules).Namespace("fleet").Get(f.ctx, name,
		meta.GetOptions{})
	f.must(err, name)
	status, _, err := unstructured.NestedMap(object.Object, "status")
	f.must(err, name)
	text, err := json.Marshal(status)
	f.must(err, name)
	return string(text)
}

func (f *Fleet) statusHas(name, part string) {
	f.until(minutes(1), name+" has "+part, func() (bool, string) {
		status := f.status(name)
		return strings.Contains(status, part), status
	})
}

func (f *Fleet) rests(name string) {
	f.until(minutes(1), name+" has no claims", func() (bool, string) {
		status := f.status(name)
		return !strings.Contains(status, "claims"), status
	})
}

func (f *Fleet) scaled(plane *Beside, name string, wanted int32, scheduler *Scheduler) {
	f.until(minutes(1), fmt.Sprintf("%s has %d replicas in %s", name, wanted, plane.name),
		func() (bool, string) {
			if !scheduler.process.running() {
				f.fail("makeway has ended:\n%s", scheduler.text())
			}
			return plane.replicas(name) == wanted, scheduler.text()
		})
}

// Seed 000: reco wants a GPU and there is none. web has three in east, all of lower priority; job
// has the last one of west, which is never a victim.
func (f *Fleet) prepare(graceSeconds int) {
	f.east.deploy("web", 3, graceSeconds)
	f.east.deploy("reco", 0, 2)
	f.west.deploy("reco", 0, 2)
	f.west.deploy("job", 1, 2)
	f.east.runs("web", 3)
	f.west.runs("job", 1)
	f.schedule("web", 10, 0, "{name: east, committed: 3}")
	f.schedule("job", 10, 0, "{name: west, committed: 1}")
	f.schedule("reco", 100, 1, "{name: east}, {name: west, score: 5}")
}

func lifeOverPlanes(t *T) {
	fleet := t.fleet()
	defer fleet.stop()
	fleet.prepare(6) // So long its claim and the pod that leaves can be seen.
	planned := fleet.plannedFor("reco")
	wire := fleet.west.wire()
	defer wire.stop()
	journal := t.dir + "/journal"
	scheduler := t.scheduler("life", "event=sight ", append(shortLease, "--journal", journal,
		"--plane", "east="+fleet.east.config(""),
		"--plane", "west="+fleet.west.config(wire.URL)+":e2e")...)
	// The claim is at home before the commit is lowered; Kubernetes chooses the pod.
	fleet.scaled(fleet.east, "web", 2, scheduler)
	fleet.statusHas("reco", `"claims"`)
	t.until(minutes(1), "a pod of web leaves", func() (bool, string) {
		_, leaving := fleet.east.pods("web")
		return len(leaving) == 1, scheduler.text()
	})
	wire.closed.Store(true)
	wire.cut()
	scheduler.says(t, "event=plane-lost plane=west")
	// Its kubelet does not let it go: when its time is up it is force-deleted, recorded before.
	fleet.scaled(fleet.east, "reco", 1, scheduler)
	fleet.east.runs("reco", 1)
	fleet.east.runs("web", 2)
	fleet.rests("reco")
	if count := strings.Count(scheduler.text(), "event=plane-lost"); count != 1 {
		t.fail("a plane was lost %d times:\n%s", count, scheduler.text())
	}
	// It is back, and another client has removed job: reco may have one more, there.
	wire.closed.Store(false)
	t.until(minutes(1), "west is seen again", func() (bool, string) {
		return strings.Count(scheduler.text(), "event=plane-sight plane=west") == 2,
			scheduler.text()
	})
	fleet.west.letGo.Store(true)
	_, err := t.plane.Dynamic.Resource(schedules).Namespace("fleet").Patch(t.ctx, "reco",
		types.MergePatchType, []byte(`{"spec":{"unmet":2,"planes":[{"name":"west"}]}}`),
		meta.PatchOptions{})
	t.must(err, "reco")
	_, err = fleet.west.plane.Client.AppsV1().Deployments("fleet").UpdateScale(t.ctx, "job",
		&autoscaling.Scale{ObjectMeta: meta.ObjectMeta{Name: "job", Namespace: "fleet"}},
		meta.UpdateOptions{})
	t.must(err, "job")
	fleet.scaled(fleet.west, "reco", 1, scheduler)
	fleet.west.runs("reco", 1)
	scheduler.end(t)
	fleet.noRefusedWrites()
	// What `makeway plan` said from outside is what was done first.
	t.equal("the plan from outside", planned, fleet.firstDoneFor("reco", journal))
	replayed := t.succeed("replay", journal)
	t.contains(replayed, "Every plan is the recorded one")
	cycles := 0
	fmt.Sscanf(replayed, "Replayed: %d cycles", &cycles)
	if cycles < 6 {
		t.fail("the life of a replica took %d cycles:\n%s", cycles, replayed)
	}
	t.note("%d cycles; %d requests of makeway in east, %d in west", cycles,
		len(fleet.east.audited(planeUser, 0)), len(fleet.west.audited(planeUser, 0)))
}

// plannedFor is what a plan from outside would do for a schedule, as JSON; with rights to read only
// what a run reads.
func (f *Fleet) plannedFor(name string) string {
	return f.actionsFor(name, f.succeed("plan", "--kubeconfig", f.schedulerConfig(""), "-o", "json",
		"--ask", "replicaschedule/fleet/"+name, "--plane", "east="+f.east.config(""),
		"--plane", "west="+f.west.config("")+":e2e"))
}

// firstDoneFor is what the first plan of a journal did that does something for it.
func (f *Fleet) firstDoneFor(name, journal string) string {
	for cycle := 1; cycle < 100; cycle++ {
		document := f.succeed("replay", journal, "--cycle", fmt.Sprint(cycle), "-o", "json")
		if actions := f.actionsFor(name, document); actions != "null" {
			return actions
		}
	}
	f.fail("nothing was done for %s", name)
	return ""
}

// actionsFor are those of a plan document that are for a schedule.
func (f *Fleet) actionsFor(name, document string) string {
	var plan struct{ Actions []map[string]any }
	f.must(json.Unmarshal([]byte(document), &plan), "plan")
	var own []map[string]any
	for _, action := range plan.Actions {
		if action["for"] == "ReplicaSchedule fleet/"+name {
			own = append(own, action)
		}
	}
	text, err := json.Marshal(own)
	f.must(err, "actions")
	return string(text)
}

// noRefusedWrites: the rights of deploy/rbac-plane.yaml are enough.
func (f *Fleet) noRefusedWrites() {
	for _, plane := range []*Beside{f.east, f.west} {
		for _, line := range plane.audited(planeUser, 0) {
			if strings.HasSuffix(line, " 403") {
				f.fail("%s: %s", plane.name, line)
			}
		}
	}
}

// clear takes everything away that a round has left.
func (f *Fleet) clear() {
	for _, name := range []string{"web", "job", "reco"} {
		err := f.plane.Dynamic.Resource(schedules).Namespace("fleet").Delete(f.ctx, name,
			meta.DeleteOptions{})
		if !errors.IsNotFound(err) {
			f.must(err, name)
		}
	}
	f.east.clear()
	f.west.clear()
}

func planesKilled(t *T) {
	fleet := t.fleet()
	defer fleet.stop()
	home, east := t.faulty(), fleet.east.faulty()
	defer home.stop()
	defer east.stop()
	rounds := 0
	for number := 1; ; number++ {
		reached := false
		for _, seen := range []bool{true, false} {
			rounds++
			reached = fleet.killedAt(home, east, number, seen) || reached
		}
		if !reached {
			t.note("%d writes, %d rounds", number-1, rounds)
			return
		}
		if number > 40 {
			t.fail("it does not come to an end")
		}
	}
}

// killedAt is false when all was done before that write.
func (f *Fleet) killedAt(home, east *Faulty, number int, seen bool) bool {
	f.clear()
	f.prepare(2)
	var first *Scheduler
	var count atomic.Int64
	var fate atomic.Int32 // Decided once, as in T.killedAt.
	const open, dies, lives = 0, 1, 2
	started, killed := make(chan struct{}), make(chan struct{})
	rule := func(write Write) Fault {
		counts := write.Resource == "replicaschedules/status" ||
			write.Resource == "deployments/scale" || write.Resource == "pods"
		switch {
		case fate.Load() == dies:
			return Fault{Lost: true}
		case !counts || count.Add(1) < int64(number) || !fate.CompareAndSwap(open, dies):
			return Fault{}
		}
		return Fault{Lost: !seen, AnswerIsLost: true, Afterwards: func() {
			<-started
			first.process.stop(syscall.SIGKILL, time.Second)
			close(killed)
		}}
	}
	home.obey(rule)
	east.obey(rule)
	folder := fmt.Sprintf("%d-%v", number, seen)
	planes := func(eastURL string) []string {
		return append(shortLease, "--plane", "east="+f.east.config(eastURL),
			"--plane", "west="+f.west.config(""))
	}
	first = f.start(home.URL, "first-"+folder, planes(east.URL)...)
	close(started)
	f.until(minutes(1), fmt.Sprintf("write %d, or the end", number), func() (bool, string) {
		running, _ := f.east.pods("reco")
		done := len(running) == 1 && !strings.Contains(f.status("reco"), "claims")
		return done || !first.process.running(), first.text()
	})
	switch {
	case !fate.CompareAndSwap(open, lives):
		<-killed
	case first.lostLease(): // The machine stalled: one more way to be killed.
	default:
		first.end(f.T)
		return false
	}
	home.obey(nil)
	east.obey(nil)
	f.freeLease()
	second := f.scheduler("second-"+folder, "event=sight ", planes("")...)
	f.scaled(f.east, "reco", 1, second)
	f.east.runs("reco", 1)
	f.rests("reco")
	f.east.runs("web", 2)
	if replicas := f.west.replicas("job"); replicas != 1 {
		f.fail("job has %d replicas:\n%s", replicas, second.text())
	}
	second.end(f.T)
	return true
}
