package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// Floor is a client that does not think: it knows before which pod leaves for which ask, and sends
// the same writes as a scheduler, without events. No scheduler can be much faster.
type Floor struct {
	p       *Peer
	client  *kubernetes.Clientset
	load    Load
	ctx     context.Context
	flights chan struct{} // So many requests at once.

	mutex sync.Mutex
	gone  map[string]chan struct{} // Victims, closed when they are gone.
	gangs map[int]*sync.WaitGroup  // Gangs with victims that are not all gone.
}

// floor begins to serve the asks of the load.
func (p *Peer) floor(ctx context.Context, load Load) {
	floor := &Floor{p: p, client: p.cheap("floor"), load: load, ctx: ctx,
		flights: make(chan struct{}, p.options.Flight), gone: map[string]chan struct{}{},
		gangs: map[int]*sync.WaitGroup{}}
	for i := range load.Asks {
		floor.gone[floor.victim(i)] = make(chan struct{})
	}
	for gang := range load.Gangs {
		floor.gangs[gang] = &sync.WaitGroup{}
		floor.gangs[gang].Add(load.Members)
	}
	p.follow(ctx, "role=low", func(event watch.EventType, pod *core.Pod) {
		floor.mutex.Lock()
		defer floor.mutex.Unlock()
		if left, waited := floor.gone[pod.Name]; waited && event == watch.Deleted {
			delete(floor.gone, pod.Name)
			close(left)
		}
	})
	p.follow(ctx, "role=ask", func(event watch.EventType, pod *core.Pod) {
		if event == watch.Added {
			go floor.serve(pod)
		}
	})
}

func (f *Floor) node(i int) int { return i % f.load.Nodes }

func (f *Floor) victim(i int) string {
	return fmt.Sprintf("low-%04d-%d", f.node(i), i/f.load.Nodes)
}

// call sends one request when there is a place for it; an answer that is no success ends the run.
func (f *Floor) call(what string, send func() error) {
	f.flights <- struct{}{}
	err := send()
	<-f.flights
	if err != nil && f.ctx.Err() == nil {
		fmt.Printf("peer-kube: floor: %s: %v\n", what, err)
	}
}

func (f *Floor) serve(pod *core.Pod) {
	var i int
	fmt.Sscanf(pod.Name, "ask-%d", &i)
	node := f.p.node(f.node(i))
	if f.load.Low > 0 {
		f.makeRoom(pod, node, f.victim(i))
	}
	if f.load.Gangs > 0 {
		gang := f.gangs[i/f.load.Members]
		gang.Done()
		gang.Wait()
	}
	f.call("bind", func() error {
		return f.client.CoreV1().Pods(peerNamespace).Bind(f.ctx, &core.Binding{
			ObjectMeta: meta.ObjectMeta{Namespace: peerNamespace, Name: pod.Name, UID: pod.UID},
			Target:     core.ObjectReference{Kind: "Node", Name: node}}, meta.CreateOptions{})
	})
}

func (f *Floor) makeRoom(pod *core.Pod, node, victim string) {
	now := time.Now().UTC().Format(time.RFC3339)
	f.mutex.Lock()
	left := f.gone[victim]
	f.mutex.Unlock()
	f.patch(pod.Name, fmt.Sprintf(`{"metadata":{"uid":"%s"},"status":{"nominatedNodeName":"%s",`+
		`"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",`+
		`"message":"room is made","lastTransitionTime":"%s"}]}}`, pod.UID, node, now))
	f.patch(victim, fmt.Sprintf(`{"status":{"conditions":[{"type":"DisruptionTarget",`+
		`"status":"True","reason":"PreemptionByScheduler","message":"for %s",`+
		`"lastTransitionTime":"%s"}]}}`, pod.UID, now))
	f.call("delete", func() error {
		return f.client.CoreV1().Pods(peerNamespace).Delete(f.ctx, victim, meta.DeleteOptions{})
	})
	select {
	case <-left:
	case <-f.ctx.Done():
	}
}

func (f *Floor) patch(name, text string) {
	f.call("patch", func() error {
		_, err := f.client.CoreV1().Pods(peerNamespace).Patch(f.ctx, name,
			types.StrategicMergePatchType, []byte(text), meta.PatchOptions{}, "status")
		return err
	})
}
