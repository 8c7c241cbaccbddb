package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// makeDevices: ResourceClaims that are allocated already.
func (m *maker) makeDevices() {
	if !m.chance(30) {
		return
	}
	for i := range 1 + m.IntN(2) {
		claim := &resourcev1.ResourceClaim{TypeMeta: kind("resource.k8s.io/v1", "ResourceClaim"),
			ObjectMeta: inDefault(fmt.Sprintf("g%d", i))}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{
			{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}
		claim.Status.Allocation = &resourcev1.AllocationResult{}
		if m.chance(70) {
			claim.Status.Allocation.NodeSelector = m.selector()
		}
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{
			{Resource: "pods", Name: "somebody", UID: "uid-somebody"}}
		m.devices = append(m.devices, claim.Name)
		m.add(claim)
	}
}

func (m *maker) podObject(name string, priority int32) *v1.Pod {
	pod := &v1.Pod{TypeMeta: kind("v1", "Pod"), ObjectMeta: inDefault(name)}
	m.starts++
	pod.CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(m.starts*97+m.IntN(97)) * time.Second))
	pod.Labels = map[string]string{"app": pick(m, []string{"x", "y", "z"})}
	pod.Spec.Priority = ptr.To(priority)
	pod.Spec.SchedulerName = v1.DefaultSchedulerName
	pod.Spec.PreemptionPolicy = ptr.To(v1.PreemptLowerPriority)
	pod.Spec.Containers = []v1.Container{{Name: "main", Image: "example.com/app"}}
	pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{
		v1.ResourceCPU: *resource.NewQuantity(int64(1+m.IntN(2)), resource.DecimalSI)}
	return pod
}

func (m *maker) addClaim(pod *v1.Pod, claim string) {
	source := &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
	pod.Spec.Volumes = append(pod.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("x%d", len(pod.Spec.Volumes)),
		VolumeSource: v1.VolumeSource{PersistentVolumeClaim: source}})
}

// addOwn gives the pod an ephemeral volume, whose claim is there unless it is still to be made.
func (m *maker) addOwn(pod *v1.Pod, always bool) {
	volume := v1.Volume{Name: fmt.Sprintf("x%d", len(pod.Spec.Volumes))}
	template := m.claimObject("", "later0")
	volume.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{Spec: template.Spec}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
	if !always && m.chance(10) {
		return
	}
	claim := m.claimObject(pod.Name+"-"+volume.Name, "later0")
	owner := pod.Name
	if !always && m.chance(10) {
		owner = "somebody"
	}
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner,
		UID: types.UID("uid-" + owner), Controller: ptr.To(true)}}
	if always || m.chance(60) {
		m.bind(claim)
	}
	m.add(claim)
}

func (m *maker) makePods() {
	for i, node := range m.nodes {
		room := m.items[m.nodeAt(node)].(*v1.Node).Status.Allocatable.Cpu().Value()
		for k := 0; room > 0 && !m.chance(12); k++ {
			pod := m.podObject(fmt.Sprintf("p%d-%d", i, k), pick(m, []int32{0, 5, 10, 20, 50}))
			if need := pod.Spec.Containers[0].Resources.Requests.Cpu().Value(); need > room {
				break
			} else {
				room -= need
			}
			for range m.IntN(3) {
				m.useClaim(pod)
			}
			if m.chance(8) {
				m.addOwn(pod, true)
			}
			pod.Spec.NodeName, pod.Status.Phase = node, v1.PodRunning
			pod.Status.StartTime = &pod.CreationTimestamp
			m.add(pod)
		}
	}
	m.makeBudget()
}

func (m *maker) nodeAt(name string) int {
	for i, item := range m.items {
		if node, ok := item.(*v1.Node); ok && node.Name == name {
			return i
		}
	}
	return -1
}

func (m *maker) useClaim(pod *v1.Pod) {
	claim := pick(m, m.claims)
	if m.used[claim] && m.onePod[claim] {
		return
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim {
			return
		}
	}
	m.used[claim] = true
	m.addClaim(pod, claim)
}

func (m *maker) makeBudget() {
	if !m.chance(40) {
		return
	}
	budget := &policyv1.PodDisruptionBudget{TypeMeta: kind("policy/v1", "PodDisruptionBudget"),
		ObjectMeta: inDefault("budget")}
	budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	budget.Status.DisruptionsAllowed = int32(m.IntN(2))
	m.add(budget)
}

func (m *maker) makeAsk(name string) *v1.Pod {
	pod := m.podObject(name, pick(m, []int32{8, 30, 100}))
	for range 1 + m.IntN(2) {
		m.useClaim(pod)
	}
	if m.chance(3) {
		m.addClaim(pod, "missing")
	}
	if m.chance(15) {
		m.addOwn(pod, false)
	}
	if len(m.devices) > 0 && m.chance(70) {
		name := pick(m, m.devices)
		pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimName: &name}}
	}
	pod.Status.Phase = v1.PodPending
	m.add(pod)
	return pod
}

// makeGroup: a gang, all of which is needed.
func (m *maker) makeGroup() {
	size := 2 + m.IntN(2)
	priority := pick(m, []int32{30, 100})
	group := &schedulingv1beta1.PodGroup{TypeMeta: kind("scheduling.k8s.io/v1beta1", "PodGroup"),
		ObjectMeta: inDefault(askName)}
	group.Spec.Priority = &priority
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(size)}
	m.add(group)
	for i := range size {
		pod := m.makeAsk(fmt.Sprintf("%s-%d", askName, i))
		pod.Spec.Priority = &priority
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To(askName)}
	}
}
