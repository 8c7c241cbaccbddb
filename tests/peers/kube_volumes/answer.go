package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"sort"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// The pending pod or group that the question is about.
const (
	askNamespace = "default"
	askName      = "ask"
)

type podName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type candidateAnswer struct {
	Node       string    `json:"node"`
	Victims    []podName `json:"victims"`
	Violations int64     `json:"numPDBViolations"`
}

type placement struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node"`
}

type askAnswer struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// result has the names of kubeoracle's results, which `peer_cases convert` reads.
type result struct {
	Ask        askAnswer         `json:"ask"`
	Fits       bool              `json:"fits"`
	FitsNodes  []string          `json:"fitsNodes,omitempty"`
	Nominated  string            `json:"nominatedNode,omitempty"`
	Placements []placement       `json:"placements,omitempty"` // Of a group.
	Victims    []podName         `json:"victims"`
	Violations int64             `json:"numPDBViolations"`
	FitsAfter  *bool             `json:"fitsAfter,omitempty"`
	Candidates []candidateAnswer `json:"candidates,omitempty"`
	Ambiguous  []string          `json:"ambiguous,omitempty"`
	Message    string            `json:"message,omitempty"`
	Error      string            `json:"error,omitempty"`
}

func answer(line []byte) *result {
	found := &result{Ask: askAnswer{"Pod", askNamespace, askName}, Victims: []podName{}}
	objects, err := decode(line)
	if err == nil {
		err = answerObjects(objects, found)
	}
	if err != nil {
		found.Error = err.Error()
	}
	return found
}

func answerObjects(objects []runtime.Object, found *result) error {
	found.Ask.Kind = "Pod"
	for _, object := range objects {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok && group.Name == askName {
			found.Ask.Kind = "PodGroup"
		}
	}
	first, err := cycle(objects)
	if err != nil {
		return err
	}
	if found.Ask.Kind == "Pod" {
		first.report(found)
	} else {
		first.reportGroup(found)
	}
	if found.Fits || len(first.nominated) == 0 {
		return nil
	}
	// What the next cycle says once the victims are gone: it has been wrong before.
	next, err := cycle(after(objects, first.nominated, found.Victims))
	if err != nil {
		return err
	}
	fits := maps.Equal(next.permitted, first.nominated)
	found.FitsAfter = &fits
	return nil
}

// decode reads a v1 List of any kinds that the scheduler's client knows.
func decode(line []byte) ([]runtime.Object, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(line, &list); err != nil {
		return nil, err
	}
	decoder := clientscheme.Codecs.UniversalDeserializer()
	var objects []runtime.Object
	for _, raw := range list.Items {
		object, _, err := decoder.Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		if pod, ok := object.(*v1.Pod); ok {
			corev1defaults.SetObjectDefaults_Pod(pod)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// after is the cluster without the victims, with the nominations.
func after(objects []runtime.Object, nominated map[podName]string, victims []podName) []runtime.Object {
	gone := map[podName]bool{}
	for _, victim := range victims {
		gone[victim] = true
	}
	var left []runtime.Object
	for _, object := range objects {
		pod, ok := object.(*v1.Pod)
		if ok && gone[podName{pod.Namespace, pod.Name}] {
			continue
		}
		if ok && pod.Spec.NodeName == "" {
			pod = pod.DeepCopy()
			pod.Status.NominatedNodeName = nominated[podName{pod.Namespace, pod.Name}]
			object = pod
		}
		left = append(left, object)
	}
	return left
}

func (s *sighting) report(found *result) {
	found.Message = s.message
	if len(s.permitted) > 0 {
		found.Fits, found.FitsNodes = true, s.fitting
		return
	}
	nominated := s.nominated[podName{askNamespace, askName}]
	ties := map[[5]int64]int{}
	var best *[5]int64
	for _, candidate := range s.candidates {
		one := candidateAnswer{Node: candidate.Name(), Victims: podNames(candidate.Victims().Pods),
			Violations: candidate.Victims().NumPDBViolations}
		found.Candidates = append(found.Candidates, one)
		score := nodeScore(candidate.Victims())
		ties[score]++
		if best == nil || less(score, *best) {
			best = &score
		}
		if one.Node == nominated {
			found.Nominated, found.Victims, found.Violations = one.Node, one.Victims, one.Violations
		}
	}
	sort.Slice(found.Candidates,
		func(i, j int) bool { return found.Candidates[i].Node < found.Candidates[j].Node })
	if best != nil && ties[*best] > 1 {
		found.Ambiguous = append(found.Ambiguous, "node-tie")
	}
	if nominated != "" && found.Nominated == "" {
		found.Error = fmt.Sprintf("nominated %s, which is no candidate", nominated)
	}
}

func (s *sighting) reportGroup(found *result) {
	found.Message, found.Fits = s.message, len(s.permitted) > 0
	if found.Fits || s.chosen == nil {
		return
	}
	found.Victims = podNames(s.chosen.Victims().Pods)
	found.Violations = s.chosen.Victims().NumPDBViolations
	for pod, node := range s.nominated {
		found.Placements = append(found.Placements, placement{pod.Namespace, pod.Name, node})
	}
	sort.Slice(found.Placements,
		func(i, j int) bool { return found.Placements[i].Name < found.Placements[j].Name })
}

func podNames(pods []*v1.Pod) []podName {
	result := []podName{}
	for _, pod := range pods {
		result = append(result, podName{pod.Namespace, pod.Name})
	}
	return result
}
