package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	plfeature "k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/util"
	"k8s.io/utils/ptr"
)

const pluginName = "WatchedPreemption"

// Informers hand on what they have read a little later; nothing shows when the caches inside the
// volume plugins have it.
const settling = 60 * time.Millisecond

// sighting is what one scheduling cycle showed.
type sighting struct {
	permitted  map[podName]string // Where the pods would be bound.
	fitting    []string           // Then: all nodes where the ask fits, if it is a pod.
	nominated  map[podName]string
	candidates []preemption.Candidate // Of a pod.
	chosen     preemption.Candidate
	message    string
}

// watched is the real DefaultPreemption; no pod is evicted, nothing is bound.
type watched struct {
	*defaultpreemption.DefaultPreemption
	handle fwk.Handle
	seen   *sighting
}

var (
	_ fwk.PostFilterPlugin         = &watched{}
	_ fwk.PodGroupPostFilterPlugin = &watched{}
	_ fwk.PermitPlugin             = &watched{}
)

func watchedFactory(seen *sighting) frameworkruntime.PluginFactory {
	args := config.DefaultPreemptionArgs{
		MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: math.MaxInt32}
	return func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		features := plfeature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
		plugin, err := defaultpreemption.New(ctx, &args, handle, features)
		if err != nil {
			return nil, err
		}
		var mutex sync.Mutex // The executor works in parallel.
		plugin.Executor.PreemptPod = func(_ context.Context, chosen preemption.Candidate,
			_ preemption.ExecutorPreemptor, _ *v1.Pod, _ string) (bool, error) {
			mutex.Lock()
			defer mutex.Unlock()
			seen.chosen = chosen
			return false, nil
		}
		return &watched{DefaultPreemption: plugin, handle: handle, seen: seen}, nil
	}
}

func (w *watched) Name() string { return pluginName }

func (w *watched) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod,
	node string) (*fwk.Status, time.Duration) {
	w.seen.permitted[podName{pod.Namespace, pod.Name}] = node
	return fwk.NewStatus(fwk.Unschedulable, "it stops here"), 0
}

func (w *watched) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	result, status := w.DefaultPreemption.PostFilter(ctx, state, pod, statuses)
	if result != nil && result.NominatingInfo != nil && result.NominatedNodeName != "" {
		w.seen.nominated[podName{pod.Namespace, pod.Name}] = result.NominatedNodeName
	}
	w.listCandidates(ctx, state, pod, statuses)
	return result, status
}

func (w *watched) PodGroupPostFilter(ctx context.Context, state fwk.PodGroupCycleState,
	group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	result, status := w.DefaultPreemption.PodGroupPostFilter(ctx, state, group, schedule)
	if result != nil && status.IsSuccess() {
		for name, info := range result.NominatingInfos {
			w.seen.nominated[podName{name.Namespace, name.Name}] = info.NominatedNodeName
		}
	}
	return result, status
}

func (w *watched) listCandidates(ctx context.Context, state fwk.CycleState, pod *v1.Pod,
	statuses fwk.NodeToStatusReader) {
	nodes, err := statuses.NodesForStatusCode(
		w.handle.MutableSnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return
	}
	budgets, _ := w.handle.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister().
		List(labels.Everything())
	w.seen.candidates, _, _ =
		w.Evaluator.DryRunPreemption(ctx, state, pod, nodes, budgets, 0, int32(len(nodes)))
}

// watchedProfile is the default profile, but with the watched DefaultPreemption.
func watchedProfile() (*config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var configuration config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &configuration, nil); err != nil {
		return nil, err
	}
	profile := configuration.Profiles[0].DeepCopy()
	for i := range profile.Plugins.MultiPoint.Enabled {
		if plugin := &profile.Plugins.MultiPoint.Enabled[i]; plugin.Name == names.DefaultPreemption {
			plugin.Name = pluginName
			return profile, nil
		}
	}
	return nil, fmt.Errorf("the default profile has no %s", names.DefaultPreemption)
}

// cycle runs one scheduling cycle for the ask, with the scheduler's own informers.
func cycle(objects []runtime.Object) (*sighting, error) {
	seen := &sighting{permitted: map[podName]string{}, nominated: map[podName]string{}}
	profile, err := watchedProfile()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	sched, err := scheduler.New(ctx, client, factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(*profile),
		scheduler.WithFrameworkOutOfTreeRegistry(
			frameworkruntime.Registry{pluginName: watchedFactory(seen)}),
		scheduler.WithPercentageOfNodesToScore(ptr.To[int32](100)), scheduler.WithParallelism(1))
	if err != nil {
		return nil, err
	}
	defer func() { _ = sched.Profiles.Close() }()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return nil, err
	}
	time.Sleep(settling)
	if len(sched.SchedulingQueue.PodsInActiveQ()) == 0 {
		seen.message = "held back before it is queued"
		return seen, nil
	}
	return seen, run(ctx, sched, seen)
}

func run(ctx context.Context, sched *scheduler.Scheduler, seen *sighting) error {
	entity, err := sched.SchedulingQueue.Pop(klog.FromContext(ctx))
	if err != nil {
		return err
	}
	var failure error
	sched.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return entity, nil }
	sched.FailureHandler = func(_ context.Context, _ framework.Framework,
		_ *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		seen.message = status.Message()
		if status.Code() == fwk.Error {
			failure = status.AsError()
		}
	}
	sched.ScheduleOne(ctx)
	if seen.permitted[podName{askNamespace, askName}] != "" {
		seen.fitting, failure = fittingNodes(ctx, sched)
	}
	return failure
}

// fittingNodes runs PreFilter and Filter on every node.
func fittingNodes(ctx context.Context, sched *scheduler.Scheduler) ([]string, error) {
	profile := sched.Profiles[v1.DefaultSchedulerName]
	pods := profile.SharedInformerFactory().Core().V1().Pods().Lister()
	pod, err := pods.Pods(askNamespace).Get(askName)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	only, status, _ := profile.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	nodes, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	var fitting []string
	for _, node := range nodes {
		name := node.Node().Name
		if (only.AllNodes() || only.NodeNames.Has(name)) &&
			profile.RunFilterPluginsWithNominatedPods(ctx, state, pod, node).IsSuccess() {
			fitting = append(fitting, name)
		}
	}
	return fitting, nil
}

// nodeScore repeats the criteria by which kube-scheduler picks a candidate; smaller is better.
func nodeScore(victims *extenderv1.Victims) [5]int64 {
	var sum int64
	for _, pod := range victims.Pods {
		sum += int64(corev1helpers.PodPriority(pod)) + int64(math.MaxInt32+1)
	}
	return [5]int64{victims.NumPDBViolations, int64(corev1helpers.PodPriority(victims.Pods[0])), sum,
		int64(len(victims.Pods)), -util.GetEarliestPodStartTime(victims).UnixNano()}
}

func less(a, b [5]int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
