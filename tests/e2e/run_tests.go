package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const schedulerUser = "system:serviceaccount:makeway:makeway"

func runTests() []Test {
	return []Test{
		{Name: "run: a pod that fits is bound, with exactly the rights of deploy/rbac.yaml",
			Run: plainBind},
		{Name: "run: an urgent pod is nominated, its victim marked, and then it is bound",
			Run: preemption},
		{Name: "run: a gang evicts a gang of mode all", Run: gangAgainstGang},
		{Name: "run: a burst causes no needless eviction", Run: burst},
		{Name: "run: killed in the middle of a preemption and started again", Run: killedInTheMiddle},
		{Name: "run: pods of a DaemonSet come onto 20 full nodes",
			Run: func(t *T) { t.daemonSetOnFullNodes("daemons", 20) }},
		{Name: "run: a missing right is reported with its rule, and nothing begins", Run: missingRule},
		{Name: "run: a second process stands by and takes over", Run: handOver},
		{Name: "run: makeway.dev/pause on the Lease stops evictions", Run: paused},
		{Name: "run: connections that fall silent are given up, and the Lease is kept",
			Run: silentConnections, Night: true},
		{Name: "run: --dry-run decides and writes nothing", Run: dryRun},
	}
}

// Scheduler is a makeway that schedules.
type Scheduler struct {
	name      string
	process   *Process
	log, page string
}

// With a Lease of so few seconds a killed leader is replaced soon; all its times are parts of it.
// Not fewer: a leader that cannot renew it for two thirds of that time, on a slow machine, ends.
var shortLease = []string{"--set", "live.leaseDuration=6s"}

// tokenForADay outlasts a soak of an hour, which is how long a token lasts by default.
func tokenForADay() *authentication.TokenRequest {
	seconds := int64(24 * time.Hour / time.Second)
	return &authentication.TokenRequest{
		Spec: authentication.TokenRequestSpec{ExpirationSeconds: &seconds}}
}

// rights of deploy/rbac.yaml, for the service account of that name; the namespace may be there.
func (t *T) grant(name string, change func(string) string) string {
	text, err := os.ReadFile("../../deploy/rbac.yaml")
	t.must(err, "rights")
	t.reader() // The namespace comes with it.
	for _, document := range strings.Split(change(string(text)), "\n---\n") {
		if !strings.Contains(document, "kind: Namespace\n") {
			t.apply(document)
		}
	}
	user := "system:serviceaccount:makeway:" + name
	t.mayListPods(user)
	t.may(user, nil, authorization.ResourceAttributes{Verb: "create", Namespace: "kube-system",
		Group: "coordination.k8s.io", Resource: "leases"})
	token, err := t.plane.Client.CoreV1().ServiceAccounts("makeway").CreateToken(t.ctx, name,
		tokenForADay(), meta.CreateOptions{})
	t.must(err, "token of the service account")
	return token.Status.Token
}

// schedulerConfig leads to that server; empty: the API server itself.
func (t *T) schedulerConfig(server string) string {
	if t.plane.schedulerToken == "" {
		t.plane.schedulerToken = t.grant("makeway", func(text string) string { return text })
	}
	path := fmt.Sprintf("%s/scheduler%d.kubeconfig", t.dir, len(t.plane.schedulers))
	t.must(t.plane.writeKubeconfig(path, Login{Token: t.plane.schedulerToken, Server: server}),
		"kubeconfig")
	return path
}

// scheduler starts one and waits until its log says that.
func (t *T) scheduler(name, until string, arguments ...string) *Scheduler {
	scheduler := t.start("", name, arguments...)
	scheduler.says(t, until)
	return scheduler
}

// start one that speaks to that server; the log is NAME's.
func (t *T) start(server, name string, arguments ...string) *Scheduler {
	folder := filepath.Join(t.dir, name)
	t.must(os.MkdirAll(folder, 0o755), "folder")
	arguments = append([]string{"run", "--kubeconfig", t.schedulerConfig(server), "--listen",
		"127.0.0.1:0"}, arguments...)
	process, err := startProcess(folder, os.Getenv("MAKEWAY_BINARY"), arguments...)
	t.must(err, "makeway")
	t.plane.all = append(t.plane.all, process)
	t.plane.schedulers = append(t.plane.schedulers, process)
	return &Scheduler{name: name, process: process,
		log: filepath.Join(folder, process.Name+".log")}
}

// says waits until its log has that.
func (s *Scheduler) says(t *T, until string) {
	address := regexp.MustCompile(`event=listening address=(\S+)`)
	began := time.Now()
	t.until(minutes(3), "makeway says "+until, func() (bool, string) {
		text := s.text()
		if found := address.FindStringSubmatch(text); found != nil {
			s.page = "http://" + found[1]
		}
		if !s.process.running() {
			t.fail("makeway has ended:\n%s", text)
		}
		return strings.Contains(text, until) && s.page != "", text
	})
	if took := seconds(began); took > 20 {
		t.note("%s: %q only after %.1f s", s.name, until, took)
	}
}

func (s *Scheduler) text() string {
	text, _ := os.ReadFile(s.log)
	return string(text)
}

// end asks it to end, and fails unless it ends well.
func (s *Scheduler) end(t *T) {
	s.process.stop(syscall.SIGTERM, minutes(1))
	if status := s.process.cmd.ProcessState.ExitCode(); status != 0 {
		t.fail("makeway ended with %d:\n%s", status, s.text())
	}
	if strings.Contains(s.text(), "level=error") {
		t.fail("makeway logged an error:\n%s", s.text())
	}
}

// lostLease: it has ended, as a leader that cannot renew its Lease must.
func (s *Scheduler) lostLease() bool {
	return !s.process.running() && s.process.cmd.ProcessState.ExitCode() == 6
}

func (s *Scheduler) get(t *T, path string) (int, string) {
	answer, err := http.Get(s.page + path)
	t.must(err, path)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	t.must(err, path)
	return answer.StatusCode, string(text)
}

// Pool is a namespace and nodes of its own, which no other test touches.
type Pool struct {
	t    *T
	name string
}

// pool has nodes NAME-00 and so on; each has pods of one CPU of class low on it. A scheduler
// that still runs, because its test failed, is ended first.
func (t *T) pool(name string, nodes, cpus, podsEach int) *Pool {
	for _, process := range t.plane.schedulers {
		process.stop(syscall.SIGTERM, 20*time.Second)
	}
	t.seed()
	t.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
	pool := &Pool{t: t, name: name}
	var documents []string
	for i := range nodes {
		documents = append(documents, strings.Replace(nodeText(pool.node(i), cpus), "labels: {",
			"labels: {pool: "+name+", ", 1))
	}
	for i := range nodes {
		for j := range podsEach {
			documents = append(documents, PodText{Namespace: name, Scheduler: "makeway", CPU: "1",
				Name: fmt.Sprintf("low-%02d-%d", i, j), Node: pool.node(i), Class: "low"}.String())
		}
	}
	t.apply(strings.Join(documents, "\n---\n"))
	t.settle()
	return pool
}

func (p *Pool) node(i int) string { return fmt.Sprintf("%s-%02d", p.name, i) }

// nodes are the first so many.
func (p *Pool) nodes(count int) []string {
	var names []string
	for i := range count {
		names = append(names, p.node(i))
	}
	return names
}

// ask makes a pod that can go nowhere but to the pool.
func (p *Pool) ask(name, class, cpu, group string) {
	p.t.apply(strings.Replace(PodText{Namespace: p.name, Name: name, Class: class, CPU: cpu,
		Group: group, Scheduler: "makeway"}.String(), "spec: {",
		"spec: {nodeSelector: {pool: "+p.name+"}, ", 1))
}

func (p *Pool) pod(name string) *core.Pod {
	pod, err := p.t.plane.Client.CoreV1().Pods(p.name).Get(p.t.ctx, name, meta.GetOptions{})
	p.t.must(err, "pod")
	return pod
}

func (p *Pool) pods() map[string]core.Pod {
	list, err := p.t.plane.Client.CoreV1().Pods(p.name).List(p.t.ctx, meta.ListOptions{})
	p.t.must(err, "pods")
	pods := map[string]core.Pod{}
	for _, pod := range list.Items {
		pods[pod.Name] = pod
	}
	return pods
}

// bound waits until all of them are bound.
func (p *Pool) bound(scheduler *Scheduler, names ...string) {
	p.t.until(minutes(2), "makeway binds "+strings.Join(names, ", "), func() (bool, string) {
		pods := p.pods()
		for _, name := range names {
			if pods[name].Spec.NodeName == "" && !scheduler.process.running() {
				p.t.fail("makeway has ended, and %s is not bound:\n%s", name, scheduler.text())
			}
			if pods[name].Spec.NodeName == "" {
				return false, name + " is not bound\n" + scheduler.text()
			}
		}
		return true, ""
	})
}

// left are the pods of that prefix that are there and not leaving.
func (p *Pool) left(prefix string) int {
	count := 0
	for name, pod := range p.pods() {
		if strings.HasPrefix(name, prefix) && pod.DeletionTimestamp == nil {
			count++
		}
	}
	return count
}

func (p *Pool) expectLeft(prefix string, wanted int) {
	if left := p.left(prefix); left != wanted {
		p.t.fail("%d pods %s... are left, expected %d", left, prefix, wanted)
	}
}

// writes of the scheduler since then, by what they are.
func (t *T) writes(from int64) map[string]int {
	count := map[string]int{}
	for _, line := range t.audited(schedulerUser, from) {
		var verb, path string
		var code int
		fmt.Sscan(line, &verb, &path, &code)
		parts := strings.Split(path, "/")
		if verb == "get" || verb == "list" || verb == "watch" {
			continue
		}
		what := parts[len(parts)-1]
		switch {
		case strings.Contains(path, "/leases"):
			what = "lease"
		case verb == "delete":
			what = "delete"
		}
		if code >= 400 {
			what = fmt.Sprintf("%s %d", what, code)
		}
		count[what]++
	}
	return count
}

func (t *T) expectWrites(from int64, wanted map[string]int) {
	t.until(minutes(1), "writes are in the audit log", func() (bool, string) {
		seen := t.writes(from)
		for what, count := range wanted {
			if seen[what] != count {
				return false, fmt.Sprint(seen)
			}
		}
		return true, ""
	})
}

func plainBind(t *T) {
	pool := t.pool("plain", 1, 4, 0)
	from := t.auditBytes()
	scheduler := t.scheduler("makeway", "event=sight ")
	pool.ask("p", "low", "1", "")
	pool.bound(scheduler, "p")
	t.expectWrites(from, map[string]int{"binding": 1, "events": 1, "status": 0, "delete": 0})
	if status, text := scheduler.get(t, "/readyz"); status != 200 {
		t.fail("/readyz %d: %s", status, text)
	}
	metrics := ""
	t.until(minutes(1), "the bind is counted", func() (bool, string) {
		_, metrics = scheduler.get(t, "/metrics")
		return strings.Contains(metrics, `scheduler_schedule_attempts_total{profile="makeway",`+
			`result="scheduled"} 1`), metrics
	})
	t.contains(metrics, "makeway_leader 1", "makeway_sight 1")
	scheduler.end(t)
	lease, err := t.plane.Client.CoordinationV1().Leases("kube-system").Get(t.ctx, "makeway",
		meta.GetOptions{})
	t.must(err, "lease")
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.fail("the Lease was not released: %s", *holder)
	}
}

func condition(pod *core.Pod, kind string) core.PodCondition {
	for _, each := range pod.Status.Conditions {
		if string(each.Type) == kind {
			return each
		}
	}
	return core.PodCondition{}
}

func preemption(t *T) {
	pool := t.pool("preempt", 2, 2, 2)
	// A finalizer keeps the victim, so that there is time to look.
	patch := []byte(`{"metadata":{"finalizers":["e2e.makeway.dev/hold"]}}`)
	for name := range pool.pods() {
		_, err := t.plane.Client.CoreV1().Pods(pool.name).Patch(t.ctx, name,
			types.MergePatchType, patch, meta.PatchOptions{})
		t.must(err, "finalizer")
	}
	scheduler := t.scheduler("makeway", "event=sight ")
	pool.ask("urgent", "high", "1", "")
	var victim core.Pod
	t.until(minutes(1), "a victim leaves", func() (bool, string) {
		for _, pod := range pool.pods() {
			if pod.DeletionTimestamp != nil {
				victim = pod
				return true, ""
			}
		}
		return false, scheduler.text()
	})
	urgent := pool.pod("urgent")
	if urgent.Status.NominatedNodeName != victim.Spec.NodeName {
		t.fail("nominated to %q, the victim was on %q", urgent.Status.NominatedNodeName,
			victim.Spec.NodeName)
	}
	if scheduled := condition(urgent, "PodScheduled"); scheduled.Reason != "Unschedulable" {
		t.fail("PodScheduled: %+v", scheduled)
	}
	ours := condition(urgent, "makeway.dev/Nominated")
	t.contains(ours.Message, "node "+victim.Spec.NodeName+", plan ")
	mark := condition(&victim, "DisruptionTarget")
	if mark.Reason != "PreemptionByScheduler" || !strings.Contains(mark.Message, string(urgent.UID)) {
		t.fail("DisruptionTarget: %+v", mark)
	}
	for name := range pool.pods() {
		_, err := t.plane.Client.CoreV1().Pods(pool.name).Patch(t.ctx, name, types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), meta.PatchOptions{})
		t.must(err, "finalizer")
	}
	pool.bound(scheduler, "urgent")
	if node := pool.pod("urgent").Spec.NodeName; node != victim.Spec.NodeName {
		t.fail("bound to %s, expected %s", node, victim.Spec.NodeName)
	}
	pool.expectLeft("low-", 3)
	scheduler.end(t)
}

func groupText(namespace, name, class, mode string, minimum int) string {
	return fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: "+
		"{namespace: %s, name: %s}, spec: {priorityClassName: %s, disruptionMode: {%s: {}}, "+
		"schedulingPolicy: {gang: {minCount: %d}}}}", namespace, name, class, mode, minimum)
}

func gangAgainstGang(t *T) {
	pool := t.pool("gangs", 2, 2, 0)
	scheduler := t.scheduler("makeway", "event=sight ")
	t.apply(groupText(pool.name, "old", "low", "all", 4))
	var old, fresh []string
	for i := range 4 {
		old = append(old, fmt.Sprintf("old-%d", i))
		pool.ask(old[i], "low", "1", "old")
	}
	pool.bound(scheduler, old...)
	t.apply(groupText(pool.name, "fresh", "high", "all", 3))
	for i := range 3 {
		fresh = append(fresh, fmt.Sprintf("fresh-%d", i))
		pool.ask(fresh[i], "high", "1", "fresh")
	}
	pool.bound(scheduler, fresh...)
	pool.expectLeft("old-", 0)
	scheduler.end(t)
}

func burst(t *T) {
	pool := t.pool("burst", 10, 5, 5)
	from := t.auditBytes()
	scheduler := t.scheduler("makeway", "event=sight ")
	var asks []string
	began := time.Now()
	for i := range 10 {
		asks = append(asks, fmt.Sprintf("ask-%d", i))
		pool.ask(asks[i], "high", "1", "")
	}
	pool.bound(scheduler, asks...)
	took := time.Since(began)
	t.note("10 asks bound after %.1f s", took.Seconds())
	pool.expectLeft("low-", 40)
	t.expectWrites(from, map[string]int{"binding": 10, "delete": 10})
	// One nomination per ask and one mark per victim; after ten seconds a reason per waiting ask.
	if statuses := t.writes(from)["status"]; statuses != 20 && took < 9*time.Second {
		t.fail("%d status writes: %v\n%s", statuses, t.writes(from), scheduler.text())
	}
	t.note("its calls: %v", t.writes(from))
	scheduler.end(t)
}

func killedInTheMiddle(t *T) {
	pool := t.pool("killed", 3, 2, 2)
	for _, moment := range []string{"status", "delete"} {
		from := t.auditBytes()
		before := pool.left("low-")
		first := t.scheduler("first-"+moment, "event=sight ", shortLease...)
		ask := "urgent-" + moment
		pool.ask(ask, "high", "1", "")
		t.until(minutes(1), "the first "+moment, func() (bool, string) {
			return t.writes(from)[moment] > 0, first.text()
		})
		first.process.stop(syscall.SIGKILL, time.Second)
		t.freeLease()
		second := t.scheduler("second-"+moment, "event=sight ", shortLease...)
		pool.bound(second, ask)
		pool.expectLeft("low-", before-1)
		second.end(t)
	}
}

// daemonSetText has pods of one CPU on all nodes of a pool.
func daemonSetText(namespace, name, pool string) string {
	return fmt.Sprintf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: %s, name: %s}, "+
		"spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, "+
		"spec: {schedulerName: makeway, priorityClassName: high, nodeSelector: {pool: %s}, "+
		"containers: [{name: c, image: i, resources: {requests: {cpu: \"1\"}}}]}}}}", namespace, name,
		pool)
}

func (t *T) daemonSetOnFullNodes(name string, nodes int) {
	pool := t.pool(name, nodes, 2, 2)
	scheduler := t.scheduler("makeway", "event=sight ")
	t.apply(daemonSetText(name, "agent", name))
	began := time.Now()
	t.until(minutes(2), "the DaemonSet is everywhere", func() (bool, string) {
		set, err := t.plane.Client.AppsV1().DaemonSets(pool.name).Get(t.ctx, "agent",
			meta.GetOptions{})
		t.must(err, "DaemonSet")
		return int(set.Status.NumberReady) == nodes, fmt.Sprintf("%d ready\n%s", set.Status.NumberReady,
			scheduler.text())
	})
	t.note("%d nodes after %.1f s", nodes, seconds(began))
	pool.expectLeft("low-", nodes)
	scheduler.end(t)
}

func missingRule(t *T) {
	token := t.grant("makeway-unbound", func(text string) string {
		text = strings.ReplaceAll(text, "name: makeway-scheduler", "name: makeway-unbound")
		text = strings.ReplaceAll(text, "name: makeway-leader", "name: makeway-unbound-leader")
		text = strings.ReplaceAll(text, "name: makeway\n  namespace: makeway",
			"name: makeway-unbound\n  namespace: makeway")
		text = strings.ReplaceAll(text, "name: makeway, namespace: makeway",
			"name: makeway-unbound, namespace: makeway")
		return strings.Replace(text, "resources: [pods/binding]", "resources: [none]", 1)
	})
	path := t.dir + "/unbound.kubeconfig"
	t.must(t.plane.writeKubeconfig(path, Login{Token: token}), "kubeconfig")
	run := t.makeway("run", "--kubeconfig", path)
	if run.Status != 1 {
		t.fail("exit status %d\n%s", run.Status, run.Err)
	}
	t.contains(run.Err, "event=right-missing", "verb=create", "resource=pods/binding",
		`resources: [pods/binding], verbs: [create]`)
	if strings.Count(run.Err, "right-missing") != 1 {
		t.fail("one right is missing:\n%s", run.Err)
	}
}

func handOver(t *T) {
	pool := t.pool("handover", 1, 4, 0)
	first := t.scheduler("first", "event=sight ")
	second := t.scheduler("second", "event=standby ")
	t.until(minutes(1), "the second is ready", func() (bool, string) {
		status, text := second.get(t, "/readyz")
		return status == 200, text
	})
	pool.ask("a", "low", "1", "")
	pool.bound(first, "a")
	began := time.Now()
	first.end(t)
	pool.ask("b", "low", "1", "")
	pool.bound(second, "b")
	t.note("the second had bound a pod %.1f s after the first was asked to end", seconds(began))
	second.end(t)
}

func (t *T) annotateLease(value string) {
	_, err := t.plane.Client.CoordinationV1().Leases("kube-system").Patch(t.ctx, "makeway",
		types.MergePatchType, []byte(`{"metadata":{"annotations":{"makeway.dev/pause":`+value+`}}}`),
		meta.PatchOptions{})
	t.must(err, "annotation")
}

func paused(t *T) {
	pool := t.pool("paused", 1, 2, 2)
	scheduler := t.scheduler("makeway", "event=sight ")
	t.annotateLease(`"evictions"`)
	t.until(minutes(1), "makeway hears it", func() (bool, string) {
		return strings.Contains(scheduler.text(), "event=paused what=evictions"), scheduler.text()
	})
	pool.ask("urgent", "high", "1", "")
	t.until(minutes(1), "it is decided and refused", func() (bool, string) {
		return strings.Contains(scheduler.text(), "event=refused"), scheduler.text()
	})
	pool.expectLeft("low-", 2)
	t.annotateLease("null")
	pool.bound(scheduler, "urgent")
	pool.expectLeft("low-", 1)
	scheduler.end(t)
}

func dryRun(t *T) {
	pool := t.pool("dry", 1, 2, 2)
	from := t.auditBytes()
	scheduler := t.scheduler("makeway", "event=sight ", "--dry-run")
	pool.ask("urgent", "high", "1", "")
	t.until(minutes(1), "it is decided", func() (bool, string) {
		return strings.Contains(scheduler.text(), `ask="Pod dry/urgent" priority=1000 outcome=preempts`),
			scheduler.text()
	})
	scheduler.end(t)
	if writes := t.writes(from); len(writes) > 0 {
		t.fail("it wrote: %v", writes)
	}
	pool.expectLeft("low-", 2)
	t.must(t.plane.Client.CoreV1().Pods(pool.name).Delete(t.ctx, "urgent", meta.DeleteOptions{}),
		"pod")
}
