package main

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const pluginName = "WatchedPreemption"

// sighting is what one cycle showed.
type sighting struct {
	elapsed    time.Duration // Inside PostFilter or PodGroupPostFilter.
	status     *fwk.Status   // Its answer; nil when it was not called.
	placements map[string]string
	victims    []string // namespace/name, as the keys of placements.
}

// watched is the real DefaultPreemption with a stopwatch around it.
type watched struct {
	*defaultpreemption.DefaultPreemption
	seen *sighting
}

var (
	_ fwk.PostFilterPlugin         = &watched{}
	_ fwk.PodGroupPostFilterPlugin = &watched{}
	_ fwk.PermitPlugin             = &watched{}
)

func watchedFactory(args config.DefaultPreemptionArgs,
	seen *sighting) frameworkruntime.PluginFactory {
	return func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		features := plfeature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
		plugin, err := defaultpreemption.New(ctx, &args, handle, features)
		if err != nil {
			return nil, err
		}
		var mutex sync.Mutex // The executor works in parallel.
		// No pod is evicted: the figure has no API calls in it.
		plugin.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate,
			_ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
			mutex.Lock()
			defer mutex.Unlock()
			seen.victims = append(seen.victims, keyOf(victim))
			return false, nil
		}
		return &watched{DefaultPreemption: plugin, seen: seen}, nil
	}
}

func (w *watched) Name() string { return pluginName }

func (w *watched) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	begin := time.Now()
	result, status := w.DefaultPreemption.PostFilter(ctx, state, pod, statuses)
	w.seen.elapsed = time.Since(begin)
	w.seen.status = status
	if result != nil && result.NominatingInfo != nil {
		w.seen.placements = map[string]string{keyOf(pod): result.NominatedNodeName}
	}
	return result, status
}

func (w *watched) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState,
	group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult,
	*fwk.Status) {
	begin := time.Now()
	result, status := w.DefaultPreemption.PodGroupPostFilter(ctx, state, group, schedule)
	w.seen.elapsed = time.Since(begin)
	w.seen.status = status
	if result != nil && status.IsSuccess() {
		w.seen.placements = map[string]string{}
		for name, info := range result.NominatingInfos {
			w.seen.placements[name.String()] = info.NominatedNodeName
		}
	}
	return result, status
}

// Permit stops an ask that fits before it is bound.
func (w *watched) Permit(context.Context, fwk.CycleState, *v1.Pod,
	string) (*fwk.Status, time.Duration) {
	return fwk.NewStatus(fwk.Unschedulable, "not bound"), 0
}
