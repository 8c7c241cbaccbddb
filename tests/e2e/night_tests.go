package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func nightTests() []Test {
	return []Test{
		{Name: "night: pods of a DaemonSet come onto 100 full nodes", Night: true,
			Run: func(t *T) { t.daemonSetOnFullNodes("hundred", 100) }},
		{Name: "night: 50 bursts of 10 asks, and no needless eviction", Night: true, Run: manyBursts},
		{Name: "night: leaders end and are killed under load", Night: true, Run: leadersUnderLoad},
		{Name: "night: the API server is killed in the middle of a burst", Night: true,
			Run: serverKilled},
		{Name: "night: the server's clock jumps", Night: true, Run: clockJumps},
		{Name: "night: nodes vanish while their victims leave", Night: true, Run: nodesVanish},
	}
}

// create makes pods of the pool, several at a time.
func (p *Pool) create(pods []PodText) {
	p.t.inParallel(len(pods), func(ctx context.Context, i int) error {
		var pod core.Pod
		if err := yaml.Unmarshal([]byte(pods[i].String()), &pod); err != nil {
			return err
		}
		if pods[i].Node == "" {
			pod.Spec.NodeSelector = map[string]string{"pool": p.name}
		}
		_, err := p.t.plane.Client.CoreV1().Pods(p.name).Create(ctx, &pod, meta.CreateOptions{})
		return err
	})
}

// clear removes all pods of the pool at once.
func (p *Pool) clear() {
	now := int64(0)
	p.t.must(p.t.plane.Client.CoreV1().Pods(p.name).DeleteCollection(p.t.ctx,
		meta.DeleteOptions{GracePeriodSeconds: &now}, meta.ListOptions{}), "deleting pods")
	p.t.until(minutes(1), "all pods are gone", func() (bool, string) {
		left := len(p.pods())
		return left == 0, fmt.Sprint(left, " are left")
	})
}

// texts of pods of one CPU: on full nodes, or asks.
func (p *Pool) texts(prefix, class string, count int, node func(int) string) []PodText {
	var texts []PodText
	for i := range count {
		texts = append(texts, PodText{Namespace: p.name, Name: fmt.Sprintf("%s-%03d", prefix, i),
			Node: node(i), Class: class, CPU: "1", Scheduler: "makeway"})
	}
	return texts
}

func nowhere(int) string { return "" }

func namesOf(texts []PodText) []string {
	var names []string
	for _, each := range texts {
		names = append(names, each.Name)
	}
	return names
}

func manyBursts(t *T) {
	const nodes, each, asks, rounds = 10, 5, 10, 50
	pool := t.pool("bursts", nodes, each, 0)
	scheduler := t.scheduler("makeway", "event=sight ")
	var longest, sum time.Duration
	for round := range rounds {
		pool.create(pool.texts(fmt.Sprintf("low%d", round), "low", nodes*each,
			func(i int) string { return pool.node(i % nodes) }))
		t.settle()
		began := time.Now()
		burst := pool.texts(fmt.Sprintf("ask%d", round), "high", asks, nowhere)
		pool.create(burst)
		pool.bound(scheduler, namesOf(burst)...)
		took := time.Since(began)
		longest, sum = max(longest, took), sum+took
		if left := pool.left("low"); left != nodes*each-asks {
			t.fail("burst %d: %d pods are left, expected %d\n%s", round, left, nodes*each-asks,
				scheduler.text())
		}
		pool.clear()
	}
	t.note("%d bursts, %.2f s each, the longest %.2f s", rounds, sum.Seconds()/rounds,
		longest.Seconds())
	scheduler.end(t)
}

// leadersUnderLoad: every two seconds the leader ends or is killed, and stands by again.
func leadersUnderLoad(t *T) {
	const nodes, each, asks = 20, 5, 60
	pool := t.pool("relay", nodes, each, each)
	team := []*Scheduler{t.scheduler("one", "event=sight ", shortLease...),
		t.scheduler("two", "event=standby ", shortLease...)}
	texts := pool.texts("ask", "high", asks, nowhere)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		for i := range texts {
			var pod core.Pod
			if yaml.Unmarshal([]byte(texts[i].String()), &pod) == nil {
				pod.Spec.NodeSelector = map[string]string{"pool": pool.name}
				t.plane.Client.CoreV1().Pods(pool.name).Create(t.ctx, &pod, meta.CreateOptions{})
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	ends := 0
	for running := true; running; ends++ {
		select {
		case <-arrived:
			running = false
		case <-time.After(2 * time.Second):
		}
		leader := t.leaderOf(team)
		if ends%2 == 0 {
			team[leader].end(t)
		} else {
			team[leader].process.stop(syscall.SIGKILL, time.Second)
		}
		team[leader] = t.start("", fmt.Sprintf("next-%d", ends), shortLease...)
	}
	pool.bound(team[t.leaderOf(team)], namesOf(texts)...)
	pool.expectLeft("low-", nodes*each-asks)
	t.note("%d asks, %d leaders", asks, ends+1)
	for _, each := range team {
		each.end(t)
	}
}

// leaderOf waits until one of them leads and sees.
func (t *T) leaderOf(team []*Scheduler) int {
	leader := 0
	t.until(minutes(1), "one of them leads", func() (bool, string) {
		for i, each := range team {
			if !each.process.running() {
				t.fail("%s has ended:\n%s", each.name, each.text())
			}
			if strings.Contains(each.text(), "event=sight ") {
				leader = i
				return true, ""
			}
		}
		return false, team[0].text() + team[1].text()
	})
	return leader
}

func serverKilled(t *T) {
	const nodes, each, asks = 10, 5, 20
	pool, faulty := t.pool("reboot", nodes, each, each), t.faulty()
	defer faulty.stop()
	scheduler := t.start(faulty.URL, "makeway", "--set", "live.leaseDuration=30s")
	scheduler.says(t, "event=sight ")
	texts := pool.texts("ask", "high", asks, nowhere)
	killed := make(chan struct{})
	faulty.obey(func(write Write) Fault {
		if write.Number != 25 {
			return Fault{}
		}
		return Fault{Afterwards: func() {
			t.plane.apiserver.stop(syscall.SIGKILL, time.Second)
			close(killed)
		}}
	})
	pool.create(texts)
	select {
	case <-killed:
	case <-time.After(time.Minute):
		t.fail("there were only %d writes:\n%s", len(faulty.all()), scheduler.text())
	}
	began := time.Now()
	t.must(t.plane.startServer(t.ctx), "API server again")
	back := seconds(began)
	pool.bound(scheduler, namesOf(texts)...)
	t.note("the server was back after %.1f s; %d asks bound after %.1f s", back, asks,
		seconds(began))
	pool.expectLeft("low-", nodes*each-asks)
	scheduler.end(t)
}

// clockJumps: the time of decisions comes from the server's Date, which is bent on the way. The
// clock of this machine cannot be changed without its administrator; only the log shows it.
func clockJumps(t *T) {
	pool, faulty := t.pool("clock", 3, 2, 2), t.faulty()
	defer faulty.stop()
	var skew atomic.Int64
	faulty.skew = func() time.Duration { return time.Duration(skew.Load()) }
	scheduler := t.start(faulty.URL, "makeway", shortLease...)
	scheduler.says(t, "event=sight ")
	for i, jump := range []time.Duration{0, 2 * time.Hour, -2 * time.Hour, 0, 48 * time.Hour} {
		skew.Store(int64(jump))
		ask := fmt.Sprintf("ask-%d", i)
		pool.ask(ask, "high", "1", "")
		pool.bound(scheduler, ask)
		pool.expectLeft("low-", 5-i)
		t.until(minutes(1), "the Lease is renewed", func() (bool, string) {
			status, text := scheduler.get(t, "/readyz")
			return status == 200, text
		})
	}
	scheduler.end(t)
}

// nodesVanish: two asks wait for their victims when the node of the first is deleted.
func nodesVanish(t *T) {
	pool := t.pool("vanish", 4, 1, 1)
	pool.finalizers(`["e2e.makeway.dev/hold"]`)
	scheduler := t.scheduler("makeway", "event=sight ", "--set", "live.evictAgainWindow=0s")
	pool.ask("ask-0", "high", "1", "")
	pool.ask("ask-1", "high", "1", "")
	nominated := func(name string) (node string) {
		t.until(minutes(1), name+" is nominated", func() (bool, string) {
			node = pool.pod(name).Status.NominatedNodeName
			return node != "", scheduler.text()
		})
		return node
	}
	gone, kept := nominated("ask-0"), nominated("ask-1")
	t.must(t.plane.Client.CoreV1().Nodes().Delete(t.ctx, gone, meta.DeleteOptions{}), "node")
	t.until(minutes(1), "ask-0 is nominated elsewhere", func() (bool, string) {
		node := pool.pod("ask-0").Status.NominatedNodeName
		return node != "" && node != gone && node != kept, node + "\n" + scheduler.text()
	})
	pool.finalizers("null")
	pool.bound(scheduler, "ask-0", "ask-1")
	if node := pool.pod("ask-0").Spec.NodeName; node == gone {
		t.fail("ask-0 is on %s, which is gone", node)
	}
	if node := pool.pod("ask-1").Spec.NodeName; node != kept {
		t.fail("ask-1 is on %s, expected %s", node, kept)
	}
	pool.expectLeft("low-", 1)
	scheduler.end(t)
}
