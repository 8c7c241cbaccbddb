package main

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	conditions "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func faultTests() []Test {
	return []Test{
		{Name: "faults: a DELETE is late, and another pod has the name: that one stays",
			Run: lateDelete},
		{Name: "faults: a leader that was stopped does no harm when it goes on", Run: stoppedLeader},
		{Name: "faults: a tenth of the writes gets 429, another 504: all bound, no needless eviction",
			Run: refusedWrites},
		{Name: "faults: a pod whose bind got lost is not a victim", Run: lostBind},
		{Name: "faults: killed at each write of a gang against a gang", Run: killedAtEachWrite},
		{Name: "faults: a nomination survives a restart", Run: nominationSurvives},
	}
}

// vanish removes a pod at once.
func (p *Pool) vanish(name string) {
	now := int64(0)
	client := p.t.plane.Client.CoreV1().Pods(p.name)
	err := client.Delete(p.t.ctx, name, meta.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil && !errors.IsNotFound(err) {
		p.t.must(err, "deleting "+name)
	}
	p.t.until(minutes(1), name+" is gone", func() (bool, string) {
		_, err := client.Get(p.t.ctx, name, meta.GetOptions{})
		return errors.IsNotFound(err), "it is there"
	})
}

// finalizers of all pods of the pool; `null` removes them, and with them the leaving pods.
func (p *Pool) finalizers(value string) {
	for name := range p.pods() {
		_, err := p.t.plane.Client.CoreV1().Pods(p.name).Patch(p.t.ctx, name,
			types.MergePatchType, []byte(`{"metadata":{"finalizers":`+value+`}}`),
			meta.PatchOptions{})
		if !errors.IsNotFound(err) {
			p.t.must(err, "finalizers")
		}
	}
}

// leaving waits until one of those pods leaves, and returns it.
func (p *Pool) leaving(prefix string, scheduler *Scheduler) core.Pod {
	var victim core.Pod
	p.t.until(minutes(1), "a victim leaves", func() (bool, string) {
		for name, pod := range p.pods() {
			if strings.HasPrefix(name, prefix) && pod.DeletionTimestamp != nil {
				victim = pod
				return true, ""
			}
		}
		return false, scheduler.text()
	})
	return victim
}

func lateDelete(t *T) {
	pool, faulty, held := t.pool("reborn", 1, 2, 2), t.faulty(), newHeld()
	defer faulty.stop()
	defer held.release()
	scheduler := t.start(faulty.URL, "makeway", shortLease...)
	scheduler.says(t, "event=sight ")
	faulty.obey(func(write Write) Fault {
		if write.is("DELETE pods") {
			return Fault{Hold: held.gate}
		}
		return Fault{}
	})
	pool.ask("urgent", "high", "1", "")
	victim := faulty.await(t, "DELETE pods", 1, scheduler)[0].Name
	pool.vanish(victim)
	t.apply(PodText{Namespace: pool.name, Name: victim, Node: pool.node(0), Class: "low", CPU: "0",
		Scheduler: "makeway"}.String())
	reborn := pool.pod(victim).UID
	pool.bound(scheduler, "urgent")
	held.release()
	for _, write := range faulty.settled(t, "DELETE pods") {
		if write.Name != victim || write.Code != 409 {
			t.fail("%s was answered with %d, expected 409 for %s", write, write.Code, victim)
		}
	}
	if pod := pool.pod(victim); pod.UID != reborn || pod.DeletionTimestamp != nil {
		t.fail("the new pod %s does not stay: %+v", victim, pod.ObjectMeta)
	}
	pool.expectLeft("low-", 2)
	scheduler.end(t)
}

// versions of all pods of the pool, and their nodes.
func (p *Pool) versions() string {
	text := ""
	for name, pod := range p.pods() {
		text += fmt.Sprintf("%s %s %s %q\n", name, pod.UID, pod.ResourceVersion, pod.Spec.NodeName)
	}
	return sorted(text)
}

// rests waits until its pods do not change for a second, and returns their versions.
func (p *Pool) rests() string {
	p.t.settle()
	versions := ""
	p.t.until(minutes(1), "the pods do not change", func() (bool, string) {
		before := versions
		versions = p.versions()
		time.Sleep(time.Second)
		return versions == before, versions
	})
	return versions
}

// stoppedLeader: two writes of the first are on their way when it is stopped, a bind and a DELETE.
// The second leads and does all there is to do; then the first goes on, and its writes arrive.
func stoppedLeader(t *T) {
	pool, faulty, held := t.pool("stopped", 1, 3, 2), t.faulty(), newHeld()
	defer faulty.stop()
	defer held.release()
	first := t.start(faulty.URL, "first", shortLease...)
	first.says(t, "event=sight ")
	second := t.scheduler("second", "event=standby ", shortLease...)
	faulty.obey(func(write Write) Fault {
		if write.is("DELETE pods") || write.is("POST pods/binding") {
			return Fault{Hold: held.gate}
		}
		return Fault{}
	})
	pool.ask("calm", "high", "1", "")
	faulty.await(t, "POST pods/binding", 1, first)
	pool.ask("urgent", "high", "1", "")
	faulty.await(t, "DELETE pods", 1, first)
	faulty.rests(t) // What it is about to send it sends before it is stopped.
	t.must(first.process.cmd.Process.Signal(syscall.SIGSTOP), "SIGSTOP")
	stopped := time.Now()
	pool.bound(second, "calm", "urgent")
	t.note("the second had bound everything %.1f s after the first was stopped", seconds(stopped))
	pool.expectLeft("low-", 1)
	sent := len(faulty.all())
	t.must(first.process.cmd.Process.Signal(syscall.SIGCONT), "SIGCONT")
	t.until(minutes(1), "the first ends", func() (bool, string) {
		return !first.process.running(), first.text()
	})
	if status := first.process.cmd.ProcessState.ExitCode(); status != 6 {
		t.fail("the first ended with %d:\n%s", status, first.text())
	}
	if now := faulty.all(); len(now) != sent {
		t.fail("it wrote after it was deposed: %v", now[sent:])
	}
	before := pool.rests()
	held.release()
	for _, what := range []string{"DELETE pods", "POST pods/binding"} {
		for _, write := range faulty.settled(t, what) {
			if write.Code != 404 && write.Code != 409 {
				t.fail("%s came late and was answered with %d", write, write.Code)
			}
		}
	}
	t.equal("pods after the late writes", before, pool.versions())
	second.end(t)
}

func refusedWrites(t *T) {
	pool, faulty := t.pool("refusals", 10, 5, 5), t.faulty()
	defer faulty.stop()
	scheduler := t.start(faulty.URL, "makeway", shortLease...)
	scheduler.says(t, "event=sight ")
	var overloads, late, lateAndDone atomic.Int64
	faulty.obey(func(write Write) Fault {
		switch write.Number % 20 {
		case 3, 13:
			overloads.Add(1)
			return Fault{Answer: overload()}
		case 8:
			late.Add(1)
			return Fault{Answer: tooLate()}
		case 18:
			lateAndDone.Add(1)
			return Fault{Answer: tooLate(), IsDone: true}
		}
		return Fault{}
	})
	var asks []string
	began := time.Now()
	for i := range 10 {
		asks = append(asks, fmt.Sprintf("ask-%d", i))
		pool.ask(asks[i], "high", "1", "")
	}
	pool.bound(scheduler, asks...)
	t.note("10 asks bound after %.1f s; %d writes, %d times 429, %d times 504 and not done, %d times "+
		"504 and done", seconds(began), len(faulty.all()), overloads.Load(), late.Load(),
		lateAndDone.Load())
	pool.expectLeft("low-", 40)
	faulty.obey(nil)
	scheduler.end(t)
}

// lostBind: until it is known what became of the bind, the pod seems to hold room.
func lostBind(t *T) {
	pool, faulty := t.pool("lostbind", 1, 1, 0), t.faulty()
	defer faulty.stop()
	scheduler := t.start(faulty.URL, "makeway", shortLease...)
	scheduler.says(t, "event=sight ")
	faulty.obey(func(write Write) Fault {
		if write.is("POST pods/binding") && write.Name == "calm" {
			return Fault{Answer: tooLate()}
		}
		return Fault{}
	})
	pool.ask("calm", "low", "1", "")
	faulty.await(t, "POST pods/binding", 1, scheduler)
	pool.ask("urgent", "high", "1", "")
	pool.bound(scheduler, "urgent")
	if !strings.Contains(scheduler.text(), "event=victim") {
		t.note("the bind was known to be lost before the urgent pod was decided")
	}
	scheduler.awaitFigure(t, "makeway_assumed_objects", 0)
	if _, there := pool.pods()["calm"]; !there || len(faulty.writes("DELETE pods")) > 0 {
		t.fail("calm was deleted, though it held no room\n%s", scheduler.text())
	}
	scheduler.end(t)
	pool.vanish("calm")
}

// freeLease expires the Lease at once: its holder was killed.
func (t *T) freeLease() {
	_, err := t.plane.Client.CoordinationV1().Leases("kube-system").Patch(t.ctx, "makeway",
		types.MergePatchType, []byte(`{"spec":{"holderIdentity":""}}`), meta.PatchOptions{})
	t.must(err, "Lease")
}

// Duel is a gang that needs three CPUs of the four that a gang of mode `all` has, on two nodes. Two
// more pods on a third node would be victims in vain.
type Duel struct {
	pool  *Pool
	round int
}

func (d Duel) names(prefix string, count int) []string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("%s%d-%d", prefix, d.round, i))
	}
	return names
}

// Story is one that ends the same wherever the process that acts in it is killed.
type Story interface {
	prepare()
	isOver() bool // Nothing is left to be written.
	// judge how it ended; the scheduler may still be at it.
	judge(scheduler *Scheduler, faulty *Faulty)
}

func (d Duel) isOver() bool {
	pods := d.pool.pods()
	for _, name := range d.names("fresh", 3) {
		if pods[name].Spec.NodeName == "" {
			return false
		}
	}
	// The last write is the condition of the group.
	group, err := d.pool.t.plane.Client.SchedulingV1beta1().PodGroups(d.pool.name).Get(
		d.pool.t.ctx, fmt.Sprintf("fresh%d", d.round), meta.GetOptions{})
	d.pool.t.must(err, "group")
	return conditions.IsStatusConditionTrue(group.Status.Conditions, "PodGroupInitiallyScheduled")
}

func (d Duel) prepare() {
	pool, t := d.pool, d.pool.t
	old, fresh := fmt.Sprintf("old%d", d.round), fmt.Sprintf("fresh%d", d.round)
	t.apply(groupText(pool.name, old, "low", "all", 4))
	for i, name := range d.names("old", 4) {
		t.apply(PodText{Namespace: pool.name, Name: name, Node: pool.node(i % 2), Class: "low",
			CPU: "1", Group: old, Scheduler: "makeway"}.String())
	}
	for _, name := range d.names("other", 2) {
		t.apply(PodText{Namespace: pool.name, Name: name, Node: pool.node(2), Class: "low", CPU: "1",
			Scheduler: "makeway"}.String())
	}
	t.settle()
	t.apply(groupText(pool.name, fresh, "high", "all", 3))
	for _, name := range d.names("fresh", 3) {
		pool.ask(name, "high", "1", fresh)
	}
}

// judge: the new gang is bound, the old one has left whole, and nothing else. If the process died
// between the deletions, the old gang is no gang any more: the next plan may spare its rest where
// fewer others do, but no more than its four pods leave in all.
func (d Duel) judge(scheduler *Scheduler, faulty *Faulty) {
	deleted := faulty.deleted("old" + fmt.Sprint(d.round) + "-")
	d.pool.bound(scheduler, d.names("fresh", 3)...)
	if deleted == 0 || deleted == 4 {
		d.pool.expectLeft("old", 0)
		d.pool.expectLeft("other", 2)
	} else if gone := 6 - d.pool.left("old") - d.pool.left("other"); gone > 4 {
		d.pool.t.fail("%d pods have left, of which %d before the process died", gone, deleted)
	}
	for name := range d.pool.pods() {
		d.pool.vanish(name)
	}
}

func killedAtEachWrite(t *T) {
	pool, faulty := t.pool("duels", 3, 2, 0), t.faulty()
	defer faulty.stop()
	t.killedEverywhere(faulty, func(round int) Story { return Duel{pool, round} },
		func(number int, seen bool) bool { return seen == (number%2 == 0) })
}

// killedEverywhere repeats a story: the n-th write is at the proxy, the process is
// killed, the server sees the write or does not, and a new process goes on. By day only those.
func (t *T) killedEverywhere(faulty *Faulty, story func(round int) Story,
	byDay func(number int, seen bool) bool) {
	rounds := 0
	for number := 1; ; number++ {
		reached, tried := false, false
		for _, seen := range []bool{true, false} {
			if !t.night && !byDay(number, seen) {
				continue
			}
			rounds++
			tried = true
			reached = t.killedAt(story(rounds), faulty, nth(number, seen)) || reached
		}
		if tried && !reached {
			t.note("%d writes, %d rounds", number-1, rounds)
			return
		}
		if number > 60 {
			t.fail("it does not come to an end:\n%v", faulty.all())
		}
	}
}

// Moment is the first write of which `is` is true, and whether the server sees that one.
type Moment struct {
	name string
	is   func(Write) bool
	seen bool
}

func nth(number int, seen bool) Moment {
	return Moment{fmt.Sprintf("%d-%v", number, seen),
		func(write Write) bool { return write.Number >= number }, seen}
}

// killedAt is false when the story was over before that.
func (t *T) killedAt(story Story, faulty *Faulty, moment Moment) bool {
	story.prepare()
	var first *Scheduler
	started, killed := make(chan struct{}), make(chan Write, 1)
	var fate atomic.Int32 // Decided once: by the moment's write, or by the story's end.
	const open, dies, lives = 0, 1, 2
	kill := func(write Write) func() {
		return func() {
			<-started
			first.process.stop(syscall.SIGKILL, time.Second)
			killed <- write
		}
	}
	faulty.obey(func(write Write) Fault {
		switch {
		case fate.Load() == dies: // What a dead process has not sent yet.
			return Fault{Lost: true}
		case !write.counts() || !moment.is(write) || !fate.CompareAndSwap(open, dies):
			return Fault{}
		}
		return Fault{Lost: !moment.seen, AnswerIsLost: true, Afterwards: kill(write)}
	})
	first = t.start(faulty.URL, "first-"+moment.name, soonBack...)
	close(started)
	t.until(minutes(1), "write "+moment.name+", or the end", func() (bool, string) {
		return !first.process.running() || story.isOver(), first.text()
	})
	var write Write
	switch {
	case !fate.CompareAndSwap(open, lives):
		write = <-killed
	case first.lostLease():
		// The machine stalled. For the story that is one more way to be killed.
		t.note("%s: the first one lost its Lease", moment.name)
	default:
		faulty.obey(nil)
		story.judge(first, faulty)
		first.end(t)
		return false
	}
	faulty.obey(nil)
	t.freeLease()
	second := t.scheduler("second-"+moment.name, "event=sight ", soonBack...)
	defer func() {
		if why := recover(); why != nil {
			if known, ok := why.(failure); ok {
				text, _ := os.ReadFile(first.log)
				panic(failure{fmt.Sprintf("killed at write %s, %s, seen by the server: %v: %s\n"+
					"the first said:\n%s", moment.name, write, moment.seen, known.text, text)})
			}
			panic(why)
		}
	}()
	story.judge(second, faulty)
	second.end(t)
	return true
}

// nominationSurvives: its victim is leaving when the process is killed; the next one takes no
// other, and binds where the nomination says.
func nominationSurvives(t *T) {
	pool := t.pool("nominee", 3, 2, 2)
	pool.finalizers(`["e2e.makeway.dev/hold"]`)
	from := t.auditBytes()
	first := t.scheduler("first", "event=sight ", shortLease...)
	pool.ask("urgent", "high", "1", "")
	victim := pool.leaving("low-", first)
	t.expectWrites(from, map[string]int{"delete": 1}) // Or it would seem to be the second's.
	first.process.stop(syscall.SIGKILL, time.Second)
	t.freeLease()
	from = t.auditBytes()
	second := t.scheduler("second", "event=sight ", shortLease...)
	t.until(minutes(1), "it has decided", func() (bool, string) {
		return strings.Contains(second.text(), `ask="Pod nominee/urgent"`), second.text()
	})
	if urgent := pool.pod("urgent"); urgent.Status.NominatedNodeName != victim.Spec.NodeName {
		t.fail("nominated to %q, was %q", urgent.Status.NominatedNodeName, victim.Spec.NodeName)
	}
	pool.expectLeft("low-", 5)
	pool.finalizers("null")
	pool.bound(second, "urgent")
	if node := pool.pod("urgent").Spec.NodeName; node != victim.Spec.NodeName {
		t.fail("bound to %s, expected %s", node, victim.Spec.NodeName)
	}
	pool.expectLeft("low-", 5)
	if writes := t.writes(from); writes["delete"] > 0 {
		t.fail("the second deleted a pod: %v", writes)
	}
	second.end(t)
}
