package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func blackboxTests() []Test {
	return []Test{
		{Name: "black box: what kube-scheduler does with pods, makeway does, but for named differences",
			Run: blackbox},
	}
}

// blackbox runs each case twice at once: with kube-scheduler and with makeway, in pools of their
// own. It comes last: kube-scheduler would bind what other tests have pending.
func blackbox(t *T) {
	for _, process := range t.plane.schedulers {
		process.stop(syscall.SIGTERM, 20*time.Second)
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	t.forgetPending()
	t.blackboxClasses()
	trials := t.trials(ctx)
	t.differencesAreDocumented(trials)
	began := time.Now()
	t.ground(trials)
	t.note("%d cases, two schedulers: the ground took %.1f s", len(trials)/2, seconds(began))
	go t.provision(ctx)
	began = time.Now()
	kube, err := t.plane.startScheduler()
	t.must(err, "kube-scheduler")
	defer kube.stop(syscall.SIGTERM, 5*time.Second)
	makeway := t.scheduler("makeway", "event=sight ")
	wrong := each(trials, len(trials), (*Trial).run)
	t.note("the cases took %.1f s", seconds(began))
	if len(wrong) > 0 {
		t.fail("%d of %d trials:\n%s", len(wrong), len(trials), strings.Join(wrong, "\n"))
	}
	makeway.end(t)
}

// each runs it for all trials, so many at a time, and returns what went wrong, in order.
func each(trials []*Trial, atOnce int, do func(*Trial)) []string {
	said := make([]string, len(trials))
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, trial := range trials {
		slots <- struct{}{}
		group.Go(func() {
			defer func() {
				<-slots
				why := recover()
				if known, ok := why.(failure); ok {
					why = known.text
				}
				if why != nil {
					said[i] = fmt.Sprintf("%s (%s): %v", trial.Name, trial.pool, why)
				}
			}()
			do(trial)
		})
	}
	group.Wait()
	return slices.DeleteFunc(said, func(text string) bool { return text == "" })
}

func (t *T) trials(ctx context.Context) []*Trial {
	maker, board := t.maker(), t.board(ctx)
	var trials []*Trial
	for side, scheduler := range map[string]string{"kube": core.DefaultSchedulerName,
		"makeway": "makeway"} {
		named := func(number int) string { return fmt.Sprintf("case%03d-%s", number, side) }
		for i, one := range t.blackboxCases(named) {
			trials = append(trials, &Trial{Case: one, t: t, maker: maker, board: board,
				pool: named(i), side: side, scheduler: scheduler})
		}
	}
	slices.SortFunc(trials, func(a, b *Trial) int { return strings.Compare(a.pool, b.pool) })
	return trials
}

// forgetPending removes what earlier tests left waiting: it could come to our nodes.
func (t *T) forgetPending() {
	pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx,
		meta.ListOptions{FieldSelector: "spec.nodeName="})
	t.must(err, "pods")
	for _, pod := range pods.Items {
		err := t.plane.Client.CoreV1().Pods(pod.Namespace).Delete(t.ctx, pod.Name,
			meta.DeleteOptions{})
		if !errors.IsNotFound(err) { // A controller may have been faster.
			t.must(err, "pod "+pod.Name)
		}
	}
}

func (t *T) blackboxClasses() {
	var documents []string
	for class, rest := range map[string]string{"low": "value: 10", "mid": "value: 100",
		"high": "value: 1000", "never": "value: 1000, preemptionPolicy: Never"} {
		documents = append(documents, fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1, "+
			"kind: PriorityClass, metadata: {name: %s}, %s}", className(class), rest))
	}
	t.apply(strings.Join(documents, "\n---\n"))
}

// ground makes everything that is there before, and waits until it is as it will stay.
func (t *T) ground(trials []*Trial) {
	steps := []func(*Trial){(*Trial).ground,
		func(r *Trial) { r.makeBound(true) }, func(r *Trial) { r.makeBound(false) }}
	for i, step := range steps {
		if wrong := each(trials, 16, step); len(wrong) > 0 {
			t.fail("%s", strings.Join(wrong, "\n"))
		}
		t.groundSettles()
		if i == 1 {
			time.Sleep(1100 * time.Millisecond) // Start times have seconds.
		}
	}
	t.until(minutes(1), "budgets are up to date", func() (bool, string) {
		budgets, err := t.plane.Client.PolicyV1().PodDisruptionBudgets("").List(t.ctx,
			meta.ListOptions{})
		t.must(err, "budgets")
		for _, budget := range budgets.Items {
			status := budget.Status
			if strings.HasPrefix(budget.Namespace, "case") && (status.ExpectedPods == 0 ||
				status.CurrentHealthy < status.ExpectedPods) {
				return false, budget.Namespace
			}
		}
		return true, ""
	})
}

func (t *T) groundSettles() {
	t.until(minutes(2), "nodes are ready, pods run, claims are bound", func() (bool, string) {
		time.Sleep(500 * time.Millisecond) // Lists of everything are not cheap.
		nodes, err := t.plane.Client.CoreV1().Nodes().List(t.ctx, meta.ListOptions{})
		t.must(err, "nodes")
		for _, node := range nodes.Items {
			for _, taint := range node.Spec.Taints {
				if taint.Key == core.TaintNodeNotReady {
					return false, node.Name + " is not ready"
				}
			}
		}
		pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx,
			meta.ListOptions{LabelSelector: "blackbox=pod", FieldSelector: "status.phase=Pending"})
		t.must(err, "pods")
		for _, pod := range pods.Items {
			return false, pod.Namespace + "/" + pod.Name + " does not run"
		}
		claims, err := t.plane.Client.CoreV1().PersistentVolumeClaims("").List(t.ctx,
			meta.ListOptions{})
		t.must(err, "claims")
		for _, claim := range claims.Items {
			if claim.Spec.VolumeName != "" && claim.Status.Phase != core.ClaimBound {
				return false, claim.Namespace + "/" + claim.Name + " is not bound"
			}
		}
		return true, ""
	})
}

// provision makes volumes for claims that a scheduler has given a node, as a driver would.
func (t *T) provision(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		claims, err := t.plane.Client.CoreV1().PersistentVolumeClaims("").List(ctx,
			meta.ListOptions{})
		if err != nil {
			continue
		}
		for _, claim := range claims.Items {
			node := claim.Annotations["volume.kubernetes.io/selected-node"]
			if node == "" || claim.Spec.VolumeName != "" {
				continue
			}
			volume := &core.PersistentVolume{ObjectMeta: meta.ObjectMeta{Name: "made-" +
				string(claim.UID)}, Spec: core.PersistentVolumeSpec{
				AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
				StorageClassName: *claim.Spec.StorageClassName,
				ClaimRef: &core.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
					Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
				PersistentVolumeSource: core.PersistentVolumeSource{
					CSI: &core.CSIPersistentVolumeSource{Driver: "made.example.com",
						VolumeHandle: string(claim.UID)}}}}
			// The second time it is there already.
			t.plane.Client.CoreV1().PersistentVolumes().Create(ctx, volume, meta.CreateOptions{})
		}
	}
}

// differencesAreDocumented compares the cases in which the two differ with the table of the docs.
func (t *T) differencesAreDocumented(trials []*Trial) {
	text, err := os.ReadFile("../../docs/kubernetes.md")
	t.must(err, "docs")
	_, table, found := strings.Cut(string(text), "\n### The same pods, both schedulers\n")
	if !found {
		t.fail("docs/kubernetes.md has no table of differences")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	explained := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			explained[strings.TrimSpace(cells[1])] = true
		}
	}
	delete(explained, "case")
	delete(explained, "---")
	for _, trial := range trials {
		if trial.side == "makeway" && trial.differs() && !explained[trial.Name] {
			t.fail("docs/kubernetes.md does not say why they differ: %s", trial.Name)
		}
		if trial.side == "makeway" && trial.differs() {
			delete(explained, trial.Name)
		}
	}
	for name := range explained {
		t.fail("docs/kubernetes.md has a difference that no case has: %s", name)
	}
}
