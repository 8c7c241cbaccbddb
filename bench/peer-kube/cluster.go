package main

import (
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"
)

const askKey = "default/ask" // Of a pod, or of the group whose pending members ask.

// cluster is one case: what is there, and the ask.
type cluster struct {
	nodes   map[string]*v1.Node
	order   []*v1.Node           // The nodes as listed; the scheduler's cache keeps this order.
	bound   map[string]*v1.Pod   // By namespace/name.
	onNode  map[string][]*v1.Pod // In the order of the List.
	budgets []*policyv1.PodDisruptionBudget
	groups  []*schedulingv1beta1.PodGroup
	members []*v1.Pod // The ask: one pod, or all of a gang.
	isGang  bool
}

func readCluster(path string) (*cluster, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	c := &cluster{
		nodes:  map[string]*v1.Node{},
		bound:  map[string]*v1.Pod{},
		onNode: map[string][]*v1.Pod{},
	}
	for i, item := range list.Items {
		if err := c.add(item); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	if len(c.members) == 0 {
		return nil, fmt.Errorf("there is no pending pod or group %s", askKey)
	}
	return c, nil
}

// add takes one object and fills in what an API server would have filled in.
func (c *cluster) add(item json.RawMessage) error {
	var header metav1.TypeMeta
	if err := json.Unmarshal(item, &header); err != nil {
		return err
	}
	switch header.Kind {
	case "Node":
		node := &v1.Node{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, node); err != nil {
			return err
		}
		corev1defaults.SetObjectDefaults_Node(node)
		c.nodes[node.Name] = node
		c.order = append(c.order, node)
	case "Pod":
		pod := &v1.Pod{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, pod); err != nil {
			return err
		}
		return c.addPod(pod)
	case "PodDisruptionBudget":
		budget := &policyv1.PodDisruptionBudget{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, budget); err != nil {
			return err
		}
		complete(&budget.ObjectMeta)
		c.budgets = append(c.budgets, budget)
	case "PodGroup":
		group := &schedulingv1beta1.PodGroup{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, group); err != nil {
			return err
		}
		complete(&group.ObjectMeta)
		if group.Spec.Priority == nil {
			return fmt.Errorf("group %s: write its priority as a number", group.Name)
		}
		c.groups = append(c.groups, group)
	default: // Left out, it could change the answer: better no figure than one for another cluster.
		return fmt.Errorf("kind %q is not understood here", header.Kind)
	}
	return nil
}

func (c *cluster) addPod(pod *v1.Pod) error {
	complete(&pod.ObjectMeta)
	corev1defaults.SetObjectDefaults_Pod(pod)
	if pod.Spec.PriorityClassName != "" && pod.Spec.Priority == nil {
		return fmt.Errorf("pod %s: write its priority as a number", keyOf(pod))
	}
	if pod.Spec.Priority == nil {
		pod.Spec.Priority = ptr.To[int32](0)
	}
	switch {
	case pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed:
	case pod.Spec.NodeName != "":
		c.bound[keyOf(pod)] = pod
		c.onNode[pod.Spec.NodeName] = append(c.onNode[pod.Spec.NodeName], pod)
	case keyOf(pod) == askKey || groupKeyOf(pod) == askKey:
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
		c.members = append(c.members, pod)
		c.isGang = groupKeyOf(pod) == askKey
	default: // Other pending pods wait; without a nomination they hold nothing.
		if pod.Status.NominatedNodeName != "" {
			return fmt.Errorf("pod %s: nominations are not understood here", keyOf(pod))
		}
	}
	return nil
}

func complete(meta *metav1.ObjectMeta) {
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
	if meta.UID == "" {
		meta.UID = types.UID(meta.Namespace + "/" + meta.Name)
	}
}

func keyOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

// groupKeyOf is empty for a pod without a group.
func groupKeyOf(pod *v1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return pod.Namespace + "/" + *pod.Spec.SchedulingGroup.PodGroupName
}

// check says whether an answer is one: every member has a place, all victims are there and less
// important than the ask, and without them the members have room. Resources only: cheap, and it
// would notice that the scheduler saw another cluster.
func (c *cluster) check(placements map[string]string, victims []string) error {
	gone := map[string]bool{}
	for _, key := range victims {
		pod, ok := c.bound[key]
		if !ok {
			return fmt.Errorf("wrong answer: there is no victim %q", key)
		}
		if *pod.Spec.Priority >= *c.members[0].Spec.Priority {
			return fmt.Errorf("wrong answer: victim %s is as important as the ask", key)
		}
		gone[key] = true
	}
	coming := map[string][]*v1.Pod{}
	for _, member := range c.members {
		node, ok := placements[keyOf(member)]
		if !ok || c.nodes[node] == nil {
			return fmt.Errorf("wrong answer: %s on node %q", keyOf(member), node)
		}
		coming[node] = append(coming[node], member)
	}
	for node, members := range coming {
		if err := c.checkNode(node, members, gone); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) checkNode(node string, members []*v1.Pod, gone map[string]bool) error {
	used := v1.ResourceList{}
	add := func(pod *v1.Pod) {
		for name, quantity := range requestsOf(pod) {
			sum := used[name]
			sum.Add(quantity)
			used[name] = sum
		}
	}
	for _, pod := range members {
		add(pod)
	}
	for _, pod := range c.onNode[node] {
		if !gone[keyOf(pod)] {
			add(pod)
		}
	}
	for name, quantity := range requestsOf(members[0]) {
		sum, room := used[name], c.nodes[node].Status.Allocatable[name]
		if !quantity.IsZero() && sum.Cmp(room) > 0 {
			return fmt.Errorf("wrong answer: %s of %s on %s, where there is %s", sum.String(), name, node,
				room.String())
		}
	}
	return nil
}

// requestsOf includes one of the resource "pods".
func requestsOf(pod *v1.Pod) v1.ResourceList {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return requests
}

// highestPriority of the victims; 0 without any.
func (c *cluster) highestPriority(victims []string) int32 {
	var highest int32
	for i, key := range victims {
		if priority := *c.bound[key].Spec.Priority; i == 0 || priority > highest {
			highest = priority
		}
	}
	return highest
}
