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
			Run: func(t *T) { t.watched(t.longer(10), func(*Wire, *Churn) {}) }},
		{Name: "the connection is cut: the store equals a fresh list", Run: whileCut},
		{Name: "a slow server: the store equals a fresh list", Run: whileSlow},
		{Name: "the API server restarts: the store equals a fresh list", Run: whileRestarted},
		{Name: "etcd is compacted while we are away: the store equals a fresh list",
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
	t.watched(t.longer(1), func(wire *Wire, churn *Churn) {
		before := wire.opened()
		for range 3 {
			churn.more(t, 20)
			wire.cut()
			t.until(minutes(2), "all watches are there again", func() (bool, string) {
				return wire.opened() >= before, fmt.Sprintf("%d of %d", wire.opened(), before)
			})
		}
	})
}

func whileSlow(t *T) {
	t.watched(t.longer(5), func(wire *Wire, _ *Churn) {
		wire.delay.Store(int64(50 * time.Millisecond))
	})
}

func whileRestarted(t *T) {
	t.watched(t.longer(1), func(_ *Wire, churn *Churn) {
		churn.more(t, 50)
		t.plane.apiserver.stop(syscall.SIGTERM, 20*time.Second)
		t.must(t.plane.startServer(t.ctx), "API server again")
		churn.more(t, 50)
	})
}

func whileCompacted(t *T) {
	from := t.auditBytes()
	t.watched(t.longer(1), func(wire *Wire, churn *Churn) {
		churn.more(t, 50)
		wire.closed.Store(true)
		wire.cut()
		churn.more(t, 100)
		t.forget()
		wire.closed.Store(false)
	})
	// At its start, when it was back, and the fresh one.
	t.until(minutes(1), "a watch had to start again: three lists of pods", func() (bool, string) {
		lists := 0
		for _, request := range t.audited(readerUser, from) {
			if request == "list /api/v1/pods 200" {
				lists++
			}
		}
		return lists >= 3, fmt.Sprintf("%d lists of pods", lists)
	})
}

// Watcher is a makeway that watches until it is asked to print its store.
type Watcher struct {
	process *Process
	out     string
}

func (t *T) watcher(config string) *Watcher {
	folder := filepath.Join(t.dir, "watcher")
	t.must(os.MkdirAll(folder, 0o755), "folder")
	// The program's own text and its errors come in one file; errors end the test anyway.
	process, err := startProcess(folder, os.Getenv("MAKEWAY_BINARY"), "snapshot", "--kubeconfig",
		config, "--watch-for", "1h", "-o", "json")
	t.must(err, "makeway")
	t.plane.all = append(t.plane.all, process)
	return &Watcher{process: process, out: filepath.Join(folder, process.Name+".log")}
}

// finish interrupts it and returns its store; before that it waits until it sees everything.
func (w *Watcher) finish(t *T) string {
	w.process.stop(syscall.SIGINT, 2*time.Minute)
	text, err := os.ReadFile(w.out)
	t.must(err, "what makeway printed")
	if status := w.process.cmd.ProcessState.ExitCode(); status != 0 {
		t.fail("makeway snapshot --watch-for: exit status %d\n%s", status, text)
	}
	return string(text)
}

// watched lets things happen and go wrong while makeway watches, and then compares its store with
// a fresh list. The changes go on for so long, and at least until the disturbance is over.
func (t *T) watched(span time.Duration, disturb func(*Wire, *Churn)) {
	t.seed()
	wire := t.wire()
	defer wire.stop()
	from := t.auditBytes()
	watcher := t.watcher(t.readerAt(wire.URL))
	t.until(minutes(2), "watches begin", func() (bool, string) {
		seen := strings.Join(t.audited(readerUser, from), "\n")
		return strings.Contains(seen, "watch /api/v1/pods 200"), seen
	})
	t.calm(wire)
	var churn Churn
	var group sync.WaitGroup
	group.Go(func() { t.churn(span, &churn) })
	// Also when it fails: a goroutine that makes changes for ever would block the next test.
	func() {
		defer churn.enough.Store(true)
		disturb(wire, &churn)
	}()
	group.Wait()
	t.still()
	t.calm(wire)
	direct := t.dir + "/direct.kubeconfig"
	t.must(t.plane.writeKubeconfig(direct, Login{Token: t.plane.readerToken}), "kubeconfig")
	got := watcher.finish(t)
	t.equal("the store of the watches", t.succeed("snapshot", "--kubeconfig", direct, "-o", "json"),
		got)
	t.note("%d connections", wire.made.Load())
}

// calm waits until the watches are open and nothing has come through for a second: everything
// that happened has arrived, or the watcher knows that it is disconnected.
func (t *T) calm(wire *Wire) {
	t.until(minutes(2), "the wire is quiet", func() (bool, string) {
		silence := time.Since(time.Unix(0, wire.moved.Load()))
		return wire.made.Load() > 0 && silence > time.Second, fmt.Sprint(silence)
	})
}

// Churn is how far the changes have come.
type Churn struct {
	made   atomic.Int64
	enough atomic.Bool
}

// more waits until so many more changes were made.
func (c *Churn) more(t *T, count int64) {
	wanted := c.made.Load() + count
	t.until(minutes(1), "changes are made", func() (bool, string) {
		return c.made.Load() >= wanted, fmt.Sprintf("%d of %d", c.made.Load(), wanted)
	})
}

// Churner changes pods of its own, so that it knows which are there and every change can be made.
type Churner struct {
	t      *T
	random *rand.Rand
	prefix string
	exists [20]bool
}

// churn makes 100 changes a second; only what a disturbed server refuses is not made.
func (t *T) churn(span time.Duration, churn *Churn) {
	t.plane.Client.CoreV1().Namespaces().Create(t.ctx, &core.Namespace{
		ObjectMeta: meta.ObjectMeta{Name: "churn"}}, meta.CreateOptions{})
	const workers, step = 8, 10 * time.Millisecond
	t.plane.churns++
	var group sync.WaitGroup
	began := time.Now()
	for worker := range workers {
		churner := &Churner{t: t, random: rand.New(rand.NewPCG(7, uint64(worker))),
			prefix: fmt.Sprintf("c%d-%d", t.plane.churns, worker)}
		group.Go(func() {
			for at := worker; t.ctx.Err() == nil; at += workers {
				if time.Duration(at)*step >= span && churn.enough.Load() {
					return
				}
				time.Sleep(time.Until(began.Add(time.Duration(at) * step)))
				ctx, cancel := context.WithTimeout(t.ctx, 5*time.Second)
				if churner.change(ctx) == nil {
					churn.made.Add(1)
				}
				cancel()
			}
		})
	}
	group.Wait()
	t.note("%d changes in %.1f s", churn.made.Load(), seconds(began))
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
