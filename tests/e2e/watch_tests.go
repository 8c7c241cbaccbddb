package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func watchTests() []Test {
	return []Test{
		{Name: "100 changes a second: the store of the watches equals a fresh list",
			Run: func(t *T) { t.watched(t.longer(10), func(*Wire) {}) }},
		{Name: "the connection is cut: the store equals a fresh list", Run: whileCut},
		{Name: "a slow server: the store equals a fresh list", Run: whileSlow},
		{Name: "the API server restarts: the store equals a fresh list", Run: whileRestarted},
		{Name: "etcd is compacted while we are away (410): the store equals a fresh list",
			Run: whileCompacted},
	}
}

// longer is that many seconds, and at night six times as many.
func (t *T) longer(count int) time.Duration {
	if t.night {
		count *= 6
	}
	return time.Duration(count) * time.Second
}

func whileCut(t *T) {
	t.watched(t.longer(5), func(wire *Wire) {
		for range 4 {
			time.Sleep(time.Second)
			wire.cut()
		}
	})
}

func whileSlow(t *T) {
	t.watched(t.longer(5), func(wire *Wire) { wire.delay.Store(int64(50 * time.Millisecond)) })
}

func whileRestarted(t *T) {
	t.watched(t.longer(8), func(*Wire) {
		time.Sleep(time.Second)
		t.plane.apiserver.stop(syscall.SIGTERM, 20*time.Second)
		t.must(t.plane.startServer(t.ctx), "API server again")
	})
}

func whileCompacted(t *T) {
	from := t.auditBytes()
	t.watched(t.longer(8), func(wire *Wire) {
		time.Sleep(time.Second)
		wire.closed.Store(true)
		wire.cut()
		time.Sleep(2 * time.Second)
		t.forget()
		wire.closed.Store(false)
	})
	// Whoever goes on from a forgotten version gets 410, and must list again.
	lists := 0
	for _, request := range t.audited(readerUser, from) {
		if request == "list /api/v1/pods 200" {
			lists++
		}
	}
	if lists < 5 {
		t.fail("only %d lists of pods: nobody had to begin anew", lists)
	}
}

// Watcher is a makeway that holds the watches until it is told to print its store.
type Watcher struct {
	process *Process
	out     string
}

func (t *T) watcher(config string, number int) *Watcher {
	folder := filepath.Join(t.dir, fmt.Sprintf("watcher-%d", number))
	t.must(os.MkdirAll(folder, 0o755), "folder")
	// The program's own text and its errors come in one file; errors end the test anyway.
	process, err := startProcess(folder, os.Getenv("MAKEWAY_BINARY"), "snapshot", "--kubeconfig",
		config, "--watch-for", "1h", "-o", "json")
	t.must(err, "makeway")
	t.plane.all = append(t.plane.all, process)
	return &Watcher{process: process, out: filepath.Join(folder, process.Name+".log")}
}

// finish interrupts it and returns its store.
func (w *Watcher) finish(t *T) string {
	w.process.stop(syscall.SIGINT, time.Minute)
	text, err := os.ReadFile(w.out)
	t.must(err, "what makeway printed")
	if status := w.process.cmd.ProcessState.ExitCode(); status != 0 {
		t.fail("makeway snapshot --watch-for: exit status %d\n%s", status, text)
	}
	return string(text)
}

// watched lets things happen and go wrong while makeway watches, and then compares its store with
// a fresh list. Of two watchers the second has more time to catch up.
func (t *T) watched(span time.Duration, disturb func(*Wire)) {
	t.seed()
	wire := t.wire()
	defer wire.stop()
	config, from := t.readerAt(wire.URL), t.auditBytes()
	watchers := []*Watcher{t.watcher(config, 1), t.watcher(config, 2)}
	t.until(minutes(1), "watches begin", func() (bool, string) {
		seen := strings.Join(t.audited(readerUser, from), "\n")
		return strings.Count(seen, "watch /api/v1/pods 200") >= len(watchers), seen
	})
	var group sync.WaitGroup
	group.Go(func() { t.churn(span) })
	disturb(wire)
	group.Wait()
	t.still()
	direct := t.dir + "/direct.kubeconfig"
	t.must(t.plane.writeKubeconfig(direct, Login{Token: t.plane.readerToken}), "kubeconfig")
	for i, patience := range []time.Duration{2 * time.Second, 40 * time.Second} {
		time.Sleep(patience)
		got := watchers[i].finish(t)
		fresh := t.succeed("snapshot", "--kubeconfig", direct, "-o", "json")
		if got == fresh || i+1 == len(watchers) {
			t.equal("the store of the watches", fresh, got)
			break
		}
		t.note("the first watcher was behind after %v", patience)
	}
	watchers[1].process.stop(syscall.SIGKILL, time.Second)
	t.note("%d connections", wire.made.Load())
}

// Churner changes pods of its own, so that it knows which are there and every change can be made.
type Churner struct {
	t      *T
	random *rand.Rand
	prefix string
	exists [20]bool
}

// churn makes 100 changes a second; only what a disturbed server refuses is not made.
func (t *T) churn(span time.Duration) {
	t.plane.Client.CoreV1().Namespaces().Create(t.ctx, &core.Namespace{
		ObjectMeta: meta.ObjectMeta{Name: "churn"}}, meta.CreateOptions{})
	const workers, step = 8, 10 * time.Millisecond
	t.plane.churns++
	var group sync.WaitGroup
	var made atomic.Int64
	began := time.Now()
	for worker := range workers {
		churner := &Churner{t: t, random: rand.New(rand.NewPCG(7, uint64(worker))),
			prefix: fmt.Sprintf("c%d-%d", t.plane.churns, worker)}
		group.Go(func() {
			for at := worker; time.Duration(at)*step < span && t.ctx.Err() == nil; at += workers {
				time.Sleep(time.Until(began.Add(time.Duration(at) * step)))
				ctx, cancel := context.WithTimeout(t.ctx, 5*time.Second)
				if churner.change(ctx) == nil {
					made.Add(1)
				}
				cancel()
			}
		})
	}
	group.Wait()
	t.note("%d changes in %.1f s", made.Load(), seconds(began))
}

// change creates, deletes or labels a pod, or labels a node.
func (c *Churner) change(ctx context.Context) error {
	client := c.t.plane.Client.CoreV1()
	number, choice := c.random.IntN(len(c.exists)), c.random.IntN(10)
	name, node := fmt.Sprintf("%s-%d", c.prefix, number), fmt.Sprintf("n%d", c.random.IntN(3)+1)
	label := []byte(fmt.Sprintf(`{"metadata":{"labels":{"seen":"x%d"}}}`, c.random.IntN(1000000)))
	switch {
	case choice == 0:
		_, err := client.Nodes().Patch(ctx, node, types.MergePatchType, label, meta.PatchOptions{})
		return err
	case !c.exists[number]:
		text := PodText{Namespace: "churn", Name: name, CPU: "1m", Node: node}
		var pod core.Pod
		if err := yaml.Unmarshal([]byte(text.String()), &pod); err != nil {
			return err
		}
		_, err := client.Pods("churn").Create(ctx, &pod, meta.CreateOptions{})
		c.exists[number] = err == nil || errors.IsAlreadyExists(err)
		return err
	case choice <= 6:
		now := int64(0)
		err := client.Pods("churn").Delete(ctx, name, meta.DeleteOptions{GracePeriodSeconds: &now})
		c.exists[number] = err != nil && !errors.IsNotFound(err)
		return err
	default:
		_, err := client.Pods("churn").Patch(ctx, name, types.MergePatchType, label,
			meta.PatchOptions{})
		return err
	}
}

// still waits until nothing changes for a second: kwok and the controllers have finished.
func (t *T) still() {
	t.settle()
	before := ""
	t.until(minutes(1), "the cluster is still", func() (bool, string) {
		now := t.dump(t.dir + "/still.json")
		same := now == before
		before = now
		time.Sleep(time.Second)
		return same, "it changes"
	})
}
