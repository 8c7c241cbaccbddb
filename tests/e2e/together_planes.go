package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	autoscaling "k8s.io/api/autoscaling/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// PlaneLoad is the part of a Mix that is about replicas: schedules over two planes that have fewer
// GPUs than they want. Numbers and priorities change, Deployments are scaled by hand, kubelets hang,
// nodes are closed, schedules go and come, writes go wrong, and planes are cut off and back.
type PlaneLoad struct {
	*Fleet
	random *rand.Rand
	sides  []*Side
	cuts   int
}

// Side is a plane with what stands before it.
type Side struct {
	*Beside
	wire   *Wire
	faulty *Faulty
	back   time.Time // When it can be reached again; zero: it can.
}

// Schedules and Deployments of these names; half of what they want at most has room.
var mixSchedules = []string{"batch", "reco", "web"}

var mixPriorities = []int{10, 50, 100}

const mixReplicasMax = 5 // Replicas that a schedule wants, at most.

func (t *T) planeLoad(fault func() func(Write) Fault) *PlaneLoad {
	load := &PlaneLoad{Fleet: t.fleetOf([]string{"e1", "e2", "e3", "e4"},
		[]string{"w1", "w2", "w3"}), random: rand.New(rand.NewPCG(t.load.seed, 2))}
	for _, plane := range []*Beside{load.east, load.west} {
		side := &Side{Beside: plane, wire: plane.wire(), faulty: plane.faulty()}
		side.wire.target = strings.TrimPrefix(side.faulty.URL, "https://")
		side.faulty.obey(fault())
		side.letGo.Store(true)
		for _, name := range mixSchedules {
			side.deploy(name, 0, 2)
		}
		load.sides = append(load.sides, side)
	}
	for i, name := range mixSchedules {
		t.must(load.remake(t.ctx, name, mixPriorities[i]), name)
	}
	return load
}

// options of makeway: what it is to know of the planes.
func (p *PlaneLoad) options() []string {
	var options []string
	for _, side := range p.sides {
		options = append(options, "--plane", side.name+"="+side.config(side.wire.URL))
	}
	return options
}

// change is one of what may happen to replicas.
func (p *PlaneLoad) change(ctx context.Context) error {
	side := p.sides[p.random.IntN(len(p.sides))]
	name := mixSchedules[p.random.IntN(len(mixSchedules))]
	priority := mixPriorities[p.random.IntN(len(mixPriorities))]
	switch p.random.IntN(12) {
	case 0: // Its kubelets hang, or let go again.
		side.letGo.Store(!side.letGo.Load())
		return nil
	case 1:
		return side.close(ctx, side.nodes[p.random.IntN(len(side.nodes))], p.random.IntN(2) == 0)
	case 2:
		return p.remake(ctx, name, priority)
	case 3:
		return p.patch(ctx, name, fmt.Sprintf(`{"spec":{"priority":%d}}`, priority))
	case 4, 5, 6: // Scaled by hand.
		_, err := side.plane.Client.AppsV1().Deployments("fleet").UpdateScale(ctx, name,
			&autoscaling.Scale{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "fleet"},
				Spec: autoscaling.ScaleSpec{Replicas: int32(p.random.IntN(3))}},
			meta.UpdateOptions{})
		return err
	}
	return p.patch(ctx, name, fmt.Sprintf(`{"spec":{"unmet":%d}}`, p.random.IntN(mixReplicasMax+1)))
}

func (p *PlaneLoad) patch(ctx context.Context, name, text string) error {
	_, err := p.plane.Dynamic.Resource(schedules).Namespace("fleet").Patch(ctx, name,
		types.MergePatchType, []byte(text), meta.PatchOptions{})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}

// remake deletes a schedule with its memory; where there is none it is made.
func (p *PlaneLoad) remake(ctx context.Context, name string, priority int) error {
	client := p.plane.Dynamic.Resource(schedules).Namespace("fleet")
	err := client.Delete(ctx, name, meta.DeleteOptions{})
	if !errors.IsNotFound(err) {
		return err
	}
	var object unstructured.Unstructured
	text := scheduleText(name, priority, p.random.IntN(mixReplicasMax+1),
		fmt.Sprintf("{name: east}, {name: west, score: %d}", p.random.IntN(3)-1))
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return err
	}
	_, err = client.Create(ctx, &object, meta.CreateOptions{})
	return err
}

// cut takes a plane away for some seconds: connections are refused, or nothing comes through.
func (p *PlaneLoad) cut() {
	side := p.sides[p.random.IntN(len(p.sides))]
	side.back = time.Now().Add(time.Duration(5+p.random.IntN(30)) * time.Second)
	p.cuts++
	if p.random.IntN(2) == 0 {
		side.wire.stuck.Store(true)
		return
	}
	side.wire.closed.Store(true)
	side.wire.cut()
}

// mend brings planes back whose time has come by then.
func (p *PlaneLoad) mend(by time.Time) {
	for _, side := range p.sides {
		if side.back.IsZero() || side.back.After(by) {
			continue
		}
		side.wire.stuck.Store(false)
		side.wire.closed.Store(false)
		side.back = time.Time{}
	}
}

// calm: everything can be reached, works and is open; there are no more changes.
func (p *PlaneLoad) calm() {
	p.mend(time.Now().Add(time.Hour))
	for _, side := range p.sides {
		side.faulty.obey(nil)
		side.letGo.Store(true)
		for _, node := range side.nodes {
			p.must(side.close(p.ctx, node, false), node)
		}
	}
}

// writes of makeway in all planes.
func (p *PlaneLoad) writes() []Passed {
	var found []Passed
	for _, side := range p.sides {
		found = append(found, side.faulty.all()...)
	}
	return found
}

// judge: there are no claims, every replica that has room runs, and a schedule that lacks one has
// no room. A schedule that could preempt may have to wait: a schedule takes from a Deployment three
// times in ten minutes at most.
func (p *PlaneLoad) judge(tail func() string) {
	p.until(minutes(6), "replicas are at rest", func() (bool, string) {
		why := p.unrest()
		return why == "", why + "\n" + tail()
	})
	p.noRefusedWrites()
	for _, name := range mixSchedules {
		wanted, isThere := p.wanted(name)
		if isThere {
			p.note("%s wants %d: %d in east, %d in west", name, wanted, p.east.replicas(name),
				p.west.replicas(name))
		}
	}
	scales, deletes := 0, 0
	for _, write := range p.writes() {
		if write.is("PATCH deployments/scale") {
			scales++
		} else {
			deletes++
		}
	}
	p.note("planes: cut off %d times; %d scales and %d other writes", p.cuts, scales, deletes)
}

func (p *PlaneLoad) wanted(name string) (int64, bool) {
	object, err := p.plane.Dynamic.Resource(schedules).Namespace("fleet").Get(p.ctx, name,
		meta.GetOptions{})
	if errors.IsNotFound(err) {
		return 0, false
	}
	p.must(err, name)
	unmet, _, err := unstructured.NestedInt64(object.Object, "spec", "unmet")
	p.must(err, name)
	return unmet, true
}

// unrest is what is not as it should be; empty: nothing.
func (p *PlaneLoad) unrest() string {
	committed, free := map[string]int64{}, 0
	for _, side := range p.sides {
		used, waits, pods := 0, 0, map[string]int{}
		list, err := side.plane.Client.CoreV1().Pods("fleet").List(p.ctx, meta.ListOptions{})
		p.must(err, "pods of "+side.name)
		for _, pod := range list.Items {
			switch {
			case pod.DeletionTimestamp != nil:
				return fmt.Sprintf("%s of %s is leaving", pod.Name, side.name)
			case pod.Spec.NodeName == "":
				waits++
			case pod.Status.Phase == core.PodRunning:
				used++
			default:
				return fmt.Sprintf("%s of %s does not run", pod.Name, side.name)
			}
			pods[pod.Labels["app"]]++
		}
		for _, name := range mixSchedules {
			replicas := side.replicas(name)
			committed[name] += int64(replicas)
			if pods[name] != int(replicas) {
				return fmt.Sprintf("%s has %d pods in %s for %d replicas", name, pods[name],
					side.name, replicas)
			}
		}
		rest := len(side.nodes) - used
		if rest > 0 && waits > 0 {
			return fmt.Sprintf("%d pods of %s wait for %d free nodes", waits, side.name, rest)
		}
		free += rest
	}
	for _, name := range mixSchedules {
		wanted, isThere := p.wanted(name)
		if !isThere {
			continue
		}
		if status := p.status(name); strings.Contains(status, `"claims"`) {
			return fmt.Sprintf("%s still claims: %s", name, status)
		}
		if wanted > committed[name] && free > 0 {
			return fmt.Sprintf("%s wants %d replicas and has %d, and %d GPUs are free", name, wanted,
				committed[name], free)
		}
	}
	return ""
}

// end takes everything away.
func (p *PlaneLoad) end() {
	for _, side := range p.sides {
		side.wire.stop()
		side.faulty.stop()
	}
	for _, name := range mixSchedules {
		err := p.plane.Dynamic.Resource(schedules).Namespace("fleet").Delete(p.ctx, name,
			meta.DeleteOptions{})
		if !errors.IsNotFound(err) {
			p.must(err, name)
		}
	}
	p.stop()
}
