package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	authentication "k8s.io/api/authentication/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func callTests() []Test {
	return []Test{
		{Name: "reads: the real server answers as the fake one does",
			Run: func(t *T) { callScript(t, "calls.txt") }},
		{Name: "writes: the real server answers as the fake one does",
			Run: func(t *T) { callScript(t, "writes.txt") }},
	}
}

// What the caller of the script may: everything that it asks for, but no limitranges.
const callerRights = `{apiVersion: v1, kind: Namespace, metadata: {name: calls}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: calls, name: caller}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: caller}
rules:
- {apiGroups: [""], resources: [pods, pods/binding, pods/status, pods/eviction, events], verbs: ["*"]}
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: ["*"]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: caller}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: caller}
subjects: [{kind: ServiceAccount, namespace: calls, name: caller}]
`

// Script runs calls.txt or writes.txt against the plane.
type Script struct {
	t      *T
	client *http.Client
	token  string
	saved  map[string]string

	name                string // Of the call, for messages.
	unknownUser         bool
	contentType, accept string
	body                string
	answerText, pending string
	answer              any
	status              int
}

func callScript(t *T, file string) {
	if !t.plane.callerMade {
		t.apply(callerRights)
		t.mayListPods("system:serviceaccount:calls:caller")
		t.plane.callerMade = true
	}
	token, err := t.plane.Client.CoreV1().ServiceAccounts("calls").CreateToken(t.ctx, "caller",
		&authentication.TokenRequest{}, meta.CreateOptions{})
	t.must(err, "token")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(t.plane.authority.PEM)
	script := &Script{t: t, token: token.Status.Token, saved: map[string]string{},
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}}
	text, err := os.ReadFile(file)
	t.must(err, "script")
	calls := 0
	for number, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if word == "call" {
			calls++
		}
		if problem := script.stepAgain(word, script.filled(rest)); problem != "" {
			t.fail("%s:%d: %s: %s\nanswer %d %.2000s", file, number+1, script.name, problem,
				script.status, script.answerText)
		}
	}
	t.note("%d calls", calls)
}

func (s *Script) filled(text string) string {
	for name, value := range s.saved {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	return text
}

// stepAgain asks a watch again that did not show what it should: in the second that it lasts, a
// slow server does not come to send it.
func (s *Script) stepAgain(word, rest string) string {
	problem := s.step(word, rest)
	isWatch := strings.Contains(s.pending, "watch=1") && (word == "has" || word == "some" ||
		word == "says")
	for tries := 0; problem != "" && isWatch && tries < 10; tries++ {
		if problem = s.send(fmt.Sprint(s.status)); problem == "" {
			problem = s.step(word, rest)
		}
	}
	return problem
}

// step returns what is wrong; empty: nothing.
func (s *Script) step(word, rest string) string {
	first, second, _ := strings.Cut(rest, " ")
	switch word {
	case "call":
		s.name, s.unknownUser, s.contentType, s.body = rest, false, "application/json", ""
		s.accept = "application/json"
	case "put":
		return s.put(rest)
	case "remove":
		namespace, name, _ := strings.Cut(second, " ")
		return s.remove(first, namespace, name)
	case "forget":
		s.t.forget()
	case "as":
		s.unknownUser = true
	case "type":
		s.contentType = rest
	case "accept":
		s.accept = rest
	case "body":
		s.body = rest
	case "send":
		s.pending = rest
	case "answer":
		return s.send(rest)
	case "has", "lacks", "some", "says", "save":
		return s.check(word, first, second, rest)
	default:
		return "unknown word " + word
	}
	return ""
}

// send asks, since all that belongs to the request is known now, and compares the code.
func (s *Script) send(wanted string) string {
	method, path, _ := strings.Cut(s.pending, " ")
	ctx, cancel := context.WithTimeout(s.t.ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.t.plane.Server+path,
		strings.NewReader(s.body))
	if err != nil {
		return err.Error()
	}
	token := s.token
	if s.unknownUser {
		token = "nobody"
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", s.contentType)
	request.Header.Set("Accept", s.accept)
	response, err := s.client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	s.status, s.answerText = response.StatusCode, string(text)
	s.answer = nil
	if strings.Contains(path, "watch=1") && response.StatusCode == 200 {
		text = append([]byte(`{"events":[`),
			bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\n"), []byte(","))...)
		text = append(text, "]}"...)
	}
	json.Unmarshal(text, &s.answer)
	if fmt.Sprint(s.status) != wanted {
		return "expected " + wanted
	}
	return ""
}

func (s *Script) check(word, path, value, rest string) string {
	found, exists := at(s.answer, path)
	switch word {
	case "says":
		if !strings.Contains(s.answerText, rest) {
			return fmt.Sprintf("expected %q", rest)
		}
	case "has":
		part, contains := strings.CutPrefix(value, "~")
		if !exists || (contains && !strings.Contains(found, part)) || (!contains && found != value) {
			return fmt.Sprintf("%s: expected %q, got %q", path, value, found)
		}
	case "lacks":
		if exists && found != "" {
			return fmt.Sprintf("%s: expected nothing, got %q", path, found)
		}
	case "some":
		key, wanted, _ := strings.Cut(value, " ")
		size, _ := at(s.answer, path+".#")
		count, _ := strconv.Atoi(size)
		for i := range count {
			if got, _ := at(s.answer, fmt.Sprintf("%s.%d.%s", path, i, key)); got == wanted {
				return ""
			}
		}
		return fmt.Sprintf("%s: none has %s %s", path, key, wanted)
	case "save":
		saved, exists := at(s.answer, value)
		if !exists {
			return value + " is not there"
		}
		s.saved[path] = saved
	}
	return ""
}

// at is the value at "items.0.metadata.name" as text, and whether there is one.
func at(tree any, path string) (string, bool) {
	const dot = "\x00"
	for _, key := range strings.Split(strings.ReplaceAll(path, `\.`, dot), ".") {
		key = strings.ReplaceAll(key, dot, ".")
		switch value := tree.(type) {
		case map[string]any:
			tree = value[key]
		case []any:
			index, err := strconv.Atoi(key)
			switch {
			case key == "#":
				return fmt.Sprint(len(value)), true
			case err != nil || index >= len(value):
				return "", false
			default:
				tree = value[index]
			}
		default:
			return "", false
		}
	}
	if tree == nil {
		return "", false
	}
	return fmt.Sprint(tree), true
}

func resourceOf(kind string) schema.GroupVersionResource {
	if kind == "PodDisruptionBudget" {
		return schema.GroupVersionResource{Group: "policy", Version: "v1",
			Resource: "poddisruptionbudgets"}
	}
	return schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}
}

// put creates or replaces, then writes the status.
func (s *Script) put(text string) string {
	var object unstructured.Unstructured
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		return err.Error()
	}
	client := s.t.plane.Dynamic.Resource(resourceOf(object.GetKind())).
		Namespace(object.GetNamespace())
	status, hasStatus := object.Object["status"]
	made, err := client.Get(s.t.ctx, object.GetName(), meta.GetOptions{})
	if err != nil {
		made, err = client.Create(s.t.ctx, &object, meta.CreateOptions{})
	} else if labels := object.GetLabels(); labels != nil {
		made.SetLabels(labels)
		made, err = client.Update(s.t.ctx, made, meta.UpdateOptions{})
	}
	if err == nil && hasStatus {
		all, _ := made.Object["status"].(map[string]any)
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, status.(map[string]any))
		made.Object["status"] = all
		_, err = client.UpdateStatus(s.t.ctx, made, meta.UpdateOptions{})
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (s *Script) remove(kind, namespace, name string) string {
	now := int64(0)
	err := s.t.plane.Dynamic.Resource(resourceOf(kind)).Namespace(namespace).
		Delete(s.t.ctx, name, meta.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		return err.Error()
	}
	return ""
}

// forget compacts etcd and restarts the API server, whose cache then begins with what is there.
func (t *T) forget() {
	t.compact()
	t.plane.apiserver.stop(syscall.SIGTERM, 20*time.Second)
	t.must(t.plane.startServer(t.ctx), "API server again")
}

// compact lets etcd forget everything but the newest version.
func (t *T) compact() {
	type revision struct{ Header struct{ Revision string } }
	var newest revision
	ask := func(path, body string, into any) {
		response, err := http.Post(t.plane.etcdURL+path, "application/json",
			strings.NewReader(body))
		t.must(err, "etcd")
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		if response.StatusCode != 200 {
			t.fail("etcd: %d %s", response.StatusCode, text)
		}
		t.must(json.Unmarshal(text, into), "etcd")
	}
	ask("/v3/kv/range", `{"key":"AA==","limit":1}`, &newest)
	var ignored revision
	ask("/v3/kv/compaction", fmt.Sprintf(`{"revision":"%s","physical":true}`,
		newest.Header.Revision), &ignored)
}
