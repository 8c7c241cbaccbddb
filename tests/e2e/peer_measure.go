package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Result is one load with one contender.
type Result struct {
	Bound, Victims, Excess     int
	Overfull                   string // A node with more than it has.
	Wall, P50, P99             time.Duration
	CPU, ServerCPU             time.Duration
	MemoryMB, ServerMB         int
	Calls                      map[string]int // "create pods/binding"
	Reads, Writes, EventWrites int
	Inside                     string // Of makeway: where the time went.
}

// Asks is when they were made and when they were seen to be bound.
type Asks struct {
	mutex       sync.Mutex
	made, bound map[string]time.Time
	all         chan struct{} // Closed when as many as expected are bound.
	expected    int
}

func (a *Asks) make(name string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.made[name] = time.Now()
}

func (a *Asks) see(pod *core.Pod) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if _, known := a.bound[pod.Name]; known || pod.Spec.NodeName == "" {
		return
	}
	a.bound[pod.Name] = time.Now()
	if len(a.bound) == a.expected {
		close(a.all)
	}
}

// follow reports every change of such pods until the context ends. A server under load may end a
// watch: then it lists the pods, reports all of them, and watches from there.
func (p *Peer) follow(ctx context.Context, selector string, show func(watch.EventType, *core.Pod)) {
	pods := p.client.CoreV1().Pods(peerNamespace)
	list, err := pods.List(ctx, meta.ListOptions{LabelSelector: selector})
	p.must(err, "pods")
	open := func() (watch.Interface, error) {
		return pods.Watch(ctx, meta.ListOptions{LabelSelector: selector,
			ResourceVersion: list.ResourceVersion})
	}
	changes, err := open()
	p.must(err, "watch")
	known := map[string]*core.Pod{}
	drain := func() {
		defer changes.Stop()
		for event := range changes.ResultChan() {
			pod, is := event.Object.(*core.Pod)
			if !is {
				return // It is an error, such as 410.
			}
			known[pod.Name] = pod
			if event.Type == watch.Deleted {
				delete(known, pod.Name)
			}
			show(event.Type, pod)
		}
	}
	again := func() error {
		fresh, err := pods.List(ctx, meta.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		list = fresh
		gone := known
		known = map[string]*core.Pod{}
		for i := range list.Items {
			pod := &list.Items[i]
			kind := watch.Added
			if gone[pod.Name] != nil {
				kind = watch.Modified
			}
			delete(gone, pod.Name)
			known[pod.Name] = pod
			show(kind, pod)
		}
		for _, pod := range gone {
			show(watch.Deleted, pod)
		}
		changes, err = open()
		return err
	}
	for i := range list.Items {
		known[list.Items[i].Name] = &list.Items[i]
	}
	go func() {
		for drain(); ctx.Err() == nil; drain() {
			for err := again(); err != nil && ctx.Err() == nil; err = again() {
				time.Sleep(100 * time.Millisecond)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}()
}

// measure runs one contender; the clock runs from the first ask until the last is seen bound.
func (p *Peer) measure(load Load, name, folder string) Result {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	process, stop := p.schedule(name, folder)
	if load.Waiting > 0 {
		p.inParallel(load.Waiting, func(_ context.Context, i int) error {
			pod := p.pod(fmt.Sprintf("waiting-%d", i), "waiting", schedulerOf(name))
			pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("100")
			return p.create(pod)
		})
		p.quiet(process, time.Minute)
	}
	asks := &Asks{made: map[string]time.Time{}, bound: map[string]time.Time{},
		all: make(chan struct{}), expected: load.Asks}
	see := func(_ watch.EventType, pod *core.Pod) { asks.see(pod) }
	p.follow(ctx, "role=ask", see)
	if name == "floor" {
		p.floor(ctx, load)
	}
	from, cpu, server := p.auditBytes(), processCPU(process), processCPU(p.plane.apiserver)
	began := time.Now()
	p.makeAsks(load, name, asks)
	select {
	case <-asks.all:
	case <-time.After(10 * time.Minute):
	case <-p.ctx.Done():
		p.fail("interrupted")
	}
	result := Result{Wall: time.Since(began)}
	p.quiet(process, 10*time.Second) // What it still writes, such as events, is its work too.
	result.CPU, result.MemoryMB = processCPU(process)-cpu, processMemory(process, "VmHWM")
	result.ServerCPU = processCPU(p.plane.apiserver) - server
	result.ServerMB = processMemory(p.plane.apiserver, "VmRSS")
	if p.page != nil {
		result.Inside = p.inside()
	}
	p.countCalls(&result, from, name)
	p.look(&result, load, asks)
	stop()
	return result
}

func (p *Peer) makeAsks(load Load, name string, asks *Asks) {
	for gang := range load.Gangs {
		p.apply(groupText(peerNamespace, fmt.Sprintf("gang-%d", gang), "peer-high", "single",
			load.Members))
	}
	one := func(_ context.Context, i int) error {
		pod := p.pod(fmt.Sprintf("ask-%d", i), "ask", schedulerOf(name))
		pod.Spec.PriorityClassName = "peer-high"
		if load.Gangs > 0 {
			group := fmt.Sprintf("gang-%d", i/load.Members)
			pod.Spec.SchedulingGroup = &core.PodSchedulingGroup{PodGroupName: &group}
		}
		asks.make(pod.Name)
		return p.create(pod)
	}
	if load.PerSecond == 0 {
		p.inParallel(load.Asks, one)
		return
	}
	began := time.Now()
	for i := range load.Asks {
		at := time.Duration(i) * time.Second / time.Duration(load.PerSecond)
		time.Sleep(time.Until(began.Add(at)))
		p.must(one(p.ctx, i), "ask")
	}
}

// look checks the answer: which pods are bound and which have left, and that no node is overfull.
func (p *Peer) look(result *Result, load Load, asks *Asks) {
	asks.mutex.Lock()
	var took []time.Duration
	for name, at := range asks.bound {
		took = append(took, at.Sub(asks.made[name]))
	}
	asks.mutex.Unlock()
	slices.Sort(took)
	result.Bound = len(took)
	if len(took) > 0 {
		result.P50, result.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	used, left := map[string]int{}, 0
	for _, pod := range p.list("role in (ask, low)") {
		if pod.DeletionTimestamp != nil {
			continue
		}
		if pod.Labels["role"] == "low" {
			left++
		}
		used[pod.Spec.NodeName]++
	}
	delete(used, "") // Those are reported as not bound.
	for node, count := range used {
		if count > 10 {
			result.Overfull = fmt.Sprintf("%s has %d pods of one CPU", node, count)
		}
	}
	result.Victims = load.Nodes*load.Low - left
	result.Excess = result.Victims - load.victims()
}

// inside returns how many cycles makeway has had since its start, and their times.
func (p *Peer) inside() string {
	_, text := p.page.get(p.T, "/metrics")
	figures := map[string]float64{}
	for line := range strings.Lines(text) {
		var name string
		var value float64
		if count, _ := fmt.Sscan(line, &name, &value); count == 2 {
			figures[name] = value
		}
	}
	return fmt.Sprintf("%.0f cycles, decided in %.2f s, judged in %.2f s",
		figures["makeway_cycles_total"], figures["makeway_cycle_decide_seconds_sum"],
		figures["makeway_cycle_check_seconds_sum"])
}

// countCalls are the requests of a contender in the audit log, without watches and Leases.
func (p *Peer) countCalls(result *Result, from int64, name string) {
	result.Calls = map[string]int{}
	text, err := os.ReadFile(p.plane.file("audit.log"))
	p.must(err, "audit log")
	for _, line := range bytes.Split(text[from:], []byte("\n")) {
		var event struct {
			Verb, UserAgent string
			ObjectRef       struct{ Resource, Subresource string }
		}
		if json.Unmarshal(line, &event) != nil || !strings.HasPrefix(event.UserAgent, name) {
			continue
		}
		what := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			what += "/" + event.ObjectRef.Subresource
		}
		switch {
		case event.Verb == "watch" || what == "leases":
			continue
		case event.Verb == "get" || event.Verb == "list":
			result.Reads++
		case what == "events":
			result.EventWrites++
		default:
			result.Writes++
		}
		result.Calls[event.Verb+" "+what]++
	}
}
