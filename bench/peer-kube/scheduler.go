package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/ptr"
)

// asShipped stops when a tenth of the nodes, at least 100, turned out to be candidates; the first
// one it looks at is random.
var asShipped = config.DefaultPreemptionArgs{
	MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}

// everyNode tries victims wherever preemption may help.
var everyNode = config.DefaultPreemptionArgs{
	MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: math.MaxInt32}

// loaded is kube-scheduler's own scheduler object with a cluster in its cache and one ask at hand.
type loaded struct {
	scheduler *scheduler.Scheduler
	seen      *sighting
	stop      context.CancelFunc
	context   context.Context
}

func load(c *cluster, args config.DefaultPreemptionArgs) (*loaded, error) {
	client, err := kubernetes.NewForConfig(
		&rest.Config{Host: "http://nowhere.invalid", Transport: silence{}, QPS: -1})
	if err != nil {
		return nil, err
	}
	profile, err := watchedProfile()
	if err != nil {
		return nil, err
	}
	l := &loaded{seen: &sighting{}}
	l.context, l.stop = context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(client, 0)
	l.scheduler, err = scheduler.New(l.context, client, factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(*profile),
		scheduler.WithFrameworkOutOfTreeRegistry(
			frameworkruntime.Registry{pluginName: watchedFactory(args, l.seen)}),
		scheduler.WithPercentageOfNodesToScore(ptr.To[int32](0)))
	if err == nil {
		err = l.fill(c, factory)
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
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
	for i, plugin := range profile.Plugins.MultiPoint.Enabled {
		if plugin.Name == names.DefaultPreemption {
			profile.Plugins.MultiPoint.Enabled[i].Name = pluginName
			return profile, nil
		}
	}
	return nil, fmt.Errorf("the default profile has no %s", names.DefaultPreemption)
}

// fill does what the scheduler's event handlers would do; no informer is started.
func (l *loaded) fill(c *cluster, factory informers.SharedInformerFactory) error {
	logger := klog.FromContext(l.context)
	for _, group := range c.groups {
		l.scheduler.Cache.AddPodGroup(group)
		l.scheduler.SchedulingQueue.AddPodGroup(logger, group)
	}
	for _, node := range c.order {
		l.scheduler.Cache.AddNode(logger, node)
		_ = factory.Core().V1().Nodes().Informer().GetIndexer().Add(node)
		for _, pod := range c.onNode[node.Name] {
			if err := l.scheduler.Cache.AddPod(logger, pod); err != nil {
				return fmt.Errorf("pod %s: %w", keyOf(pod), err)
			}
		}
	}
	for _, budget := range c.budgets {
		_ = factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(budget)
	}
	for _, member := range c.members {
		_ = factory.Core().V1().Pods().Informer().GetIndexer().Add(member)
		if c.isGang {
			l.scheduler.Cache.AddPodGroupMember(member)
		}
	}
	for _, member := range c.members {
		l.scheduler.SchedulingQueue.Add(l.context, member)
	}
	if len(l.scheduler.SchedulingQueue.PodsInActiveQ()) == 0 {
		return fmt.Errorf("the queue does not let the ask pass")
	}
	ask, err := l.scheduler.SchedulingQueue.Pop(logger)
	if err != nil {
		return err
	}
	// The same ask again in every cycle: nothing is bound, nothing evicted, so nothing changes.
	l.scheduler.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return ask, nil }
	l.scheduler.FailureHandler = func(context.Context, framework.Framework, *framework.QueuedPodInfo,
		*fwk.Status, *fwk.NominatingInfo, time.Time) {
	}
	return nil
}

// cycle runs one real scheduling cycle and returns what the preemption in it did.
func (l *loaded) cycle() *sighting {
	*l.seen = sighting{}
	l.scheduler.ScheduleOne(l.context)
	return l.seen
}

func (l *loaded) close() {
	l.stop()
	_ = l.scheduler.Profiles.Close()
}

// silence stands for the API server: every write is answered with an empty object.
type silence struct{}

func (silence) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: request,
		Header: http.Header{"Content-Type": []string{"application/json"}},
		Body:   io.NopCloser(bytes.NewReader([]byte("{}")))}, nil
}
