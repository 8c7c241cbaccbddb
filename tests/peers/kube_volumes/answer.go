package main

import (
	"encoding/json"
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// The pending pod that the question is about.
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
	first, err := cycle(objects)
	if err != nil {
		return err
	}
	first.report(found)
	if found.Nominated == "" {
		return nil
	}
	// What the next cycle says once the victims are gone: it has been wrong before.
	next, err := cycle(after(objects, found))
	if err != nil {
		return err
	}
	fits := next.permitted == found.Nominated
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

// after is the cluster without the victims, with the nomination.
func after(objects []runtime.Object, found *result) []runtime.Object {
	gone := map[podName]bool{}
	for _, victim := range found.Victims {
		gone[victim] = true
	}
	var left []runtime.Object
	for _, object := range objects {
		pod, ok := object.(*v1.Pod)
		if ok && gone[podName{pod.Namespace, pod.Name}] {
			continue
		}
		if ok && pod.Name == askName {
			pod = pod.DeepCopy()
			pod.Status.NominatedNodeName = found.Nominated
			object = pod
		}
		left = append(left, object)
	}
	return left
}

func (s *sighting) report(found *result) {
	found.Message = s.message
	if s.permitted != "" {
		found.Fits, found.FitsNodes = true, s.fitting
		return
	}
	best := map[[5]int64]int{}
	var top *[5]int64
	for _, candidate := range s.candidates {
		one := candidateAnswer{Node: candidate.Name(), Victims: podNames(candidate.Victims().Pods),
			Violations: candidate.Victims().NumPDBViolations}
		found.Candidates = append(found.Candidates, one)
		score := nodeScore(candidate.Victims())
		best[score]++
		if top == nil || less(score, *top) {
			top = &score
		}
		if one.Node == s.nominated {
			found.Nominated, found.Victims, found.Violations = one.Node, one.Victims, one.Violations
		}
	}
	sort.Slice(found.Candidates,
		func(i, j int) bool { return found.Candidates[i].Node < found.Candidates[j].Node })
	if top != nil && best[*top] > 1 {
		found.Ambiguous = append(found.Ambiguous, "node-tie")
	}
	if s.nominated != "" && found.Nominated == "" {
		found.Error = fmt.Sprintf("nominated %s, which is no candidate", s.nominated)
	}
}

func podNames(pods []*v1.Pod) []podName {
	result := []podName{}
	for _, pod := range pods {
		result = append(result, podName{pod.Namespace, pod.Name})
	}
	return result
}
