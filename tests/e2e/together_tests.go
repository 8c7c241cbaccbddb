package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func togetherTests() []Test {
	return []Test{{Name: "night: all policies at once under random load", Night: true,
		Run: together}}
}

const (
	mixNodes, mixPods = 8, 90 // 64 CPUs, of which others hold 8 and a DaemonSet sometimes 8.
	mixSessions       = 16    // In each group about so many.
)

// Mix is a soak in which all policies meet: pods, gangs, queues, sessions, a DaemonSet, replicas
// over two planes; and pods of another scheduler, which makeway may not touch.
type Mix struct {
	*Soak
	realms  []*Realm
	planes  *PlaneLoad
	journal string
}

func together(t *T) {
	undo := t.define(append([]string{"queues", "replicaschedules"}, sessionKinds...)...)
	defer undo()
	m := t.mix()
	defer m.faulty.stop()
	defer m.clear()
	m.planes = t.planeLoad(m.fault)
	defer m.planes.end()
	m.begin("run-0")
	m.faulty.obey(m.fault())
	began, looked, kills := time.Now(), time.Now(), 0
	for tick := 0; time.Since(began) < t.load.lasts && t.ctx.Err() == nil; tick++ {
		m.change(tick)
		// In the first half; the memory of the last one is measured.
		if kills < 4 && time.Since(began) > t.load.lasts*time.Duration(kills+1)/8 {
			kills++
			m.scheduler.process.stop(syscall.SIGKILL, time.Second)
			t.freeLease()
			m.begin(fmt.Sprintf("run-%d", kills))
		}
		if time.Since(looked) > min(t.load.lasts/8, time.Minute) {
			looked = time.Now()
			m.look()
		}
		time.Sleep(time.Until(began.Add(time.Duration(tick+1) * 100 * time.Millisecond)))
	}
	if t.ctx.Err() != nil {
		t.fail("interrupted")
	}
	m.faulty.obey(nil)
	m.planes.calm()
	m.rest()
	m.judge()
	m.scheduler.end(t)
	t.contains(t.succeed("replay", m.journal), "Every plan is the recorded one")
}

func (t *T) mix() *Mix {
	held := t.pool("mixheld", 0, 0, 0)
	held.holdAllNodes()
	seats, desks := t.realm("mixseats", 4, soakCPUs), t.realm("mixdesks", 2, soakCPUs)
	pool := t.pool("mix", mixNodes, soakCPUs, 0)
	documents := []string{
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: mix, name: p}, " +
			"spec: {minAvailable: 15, selector: {matchLabels: {app: p}}}}",
		"{apiVersion: makeway.dev/v1, kind: Partition, metadata: {name: mixday}, spec: " +
			"{resourceGroup: mixdesks, tier: 2}}",
		"{apiVersion: makeway.dev/v1, kind: Partition, metadata: {name: mixnight}, spec: " +
			"{resourceGroup: mixdesks, tier: 1, preemptible: true, mode: requeue, graceTime: 2s}}",
	}
	for _, queue := range []string{"mix-a}, spec: {weight: 2}", "mix-b}, spec: {weight: 1}",
		"mix-team}, spec: {weight: 3}", "mix-c}, spec: {weight: 1, parent: mix-team}",
		"mix-d}, spec: {weight: 2, parent: mix-team, limit: {cpu: 20}}"} {
		documents = append(documents,
			"{apiVersion: makeway.dev/v1, kind: Queue, metadata: {name: "+queue+"}")
	}
	for i := range mixNodes {
		documents = append(documents, PodText{Namespace: held.name, Name: fmt.Sprintf("foreign-%02d",
			i), Node: pool.node(i), Class: "low", CPU: "1"}.String())
	}
	t.apply(strings.Join(documents, "\n---\n"))
	nodes := append(append(pool.nodes(mixNodes), seats.nodes(4)...), desks.nodes(2)...)
	t.note("-seed %d", t.load.seed)
	return &Mix{Soak: &Soak{t: t, pool: pool, nodes: nodes, faulty: t.faulty(),
		random: rand.New(rand.NewPCG(t.load.seed, 1)), crowd: mixPods, whole: map[string]bool{},
		away: map[string]time.Time{}}, realms: []*Realm{seats, desks}}
}

// strict: budgets are counted by the API server, every second night.
func (m *Mix) strict() bool { return m.t.load.seed%2 == 0 }

func (m *Mix) rules() []string {
	rules := []string{"--set", "live.evictAgainWindow=5s", "--set", "session.backoffFirst=1s",
		"--set", "session.backoffMax=8s"}
	if m.strict() {
		rules = append(rules, "--set", "budgets.mode=strict")
	}
	return rules
}

func (m *Mix) begin(name string) {
	m.journal = m.t.dir + "/" + name + ".journal"
	options := append(m.rules(), m.planes.options()...)
	m.scheduler = m.t.start(m.faulty.URL, name, append(options, "--journal", m.journal,
		"--journal-size", "8Mi", "--journal-files", "1")...)
	m.scheduler.says(m.t, "event=sight ")
	m.memory = nil
}

// change is one of ten a second.
func (m *Mix) change(tick int) {
	ctx, cancel := context.WithTimeout(m.t.ctx, 10*time.Second)
	defer cancel()
	var err error
	switch {
	case tick%100 == 50:
		err = m.changeNode(ctx)
	case tick%100 == 25:
		err = m.sweep(ctx)
	case tick%100 == 75:
		err = m.changeQueue(ctx)
	case tick%300 == 299:
		m.faulty.cut()
	case tick%300 == 149:
		err = m.changeDaemons(ctx)
	case tick%200 == 85:
		err = m.changeCapacity(ctx, m.pool.node(m.random.IntN(mixNodes)), 4+4*m.random.IntN(2))
	case tick%400 == 398:
		m.planes.cut()
	case tick%20 == 3:
		err = m.planes.change(ctx)
	case tick%10 == 0:
		m.planes.mend(time.Now())
		err = m.returnNodes(ctx)
	case tick%10 == 5:
		err = m.changeSession(ctx, m.realms[m.random.IntN(len(m.realms))])
	case m.random.IntN(2) == 0:
		err = m.arrive(ctx)
	case m.random.IntN(3) == 0:
		err = m.complete(ctx)
	default:
		err = m.depart(ctx)
	}
	if err != nil {
		m.lost++
	}
}

// arrive: a pod or a gang, in a queue or outside.
func (m *Mix) arrive(ctx context.Context) error {
	m.made++
	labels := map[string]string{}
	if i := m.random.IntN(6); i < 5 {
		labels["makeway.dev/queue"] = []string{"mix-a", "mix-a", "mix-b", "mix-c", "mix-d"}[i]
	}
	class := []string{"low", "low", "high"}[m.random.IntN(3)]
	if m.random.IntN(6) == 0 {
		return m.arriveGang(ctx, class, labels)
	}
	return m.create(ctx, PodText{Name: fmt.Sprintf("p-%06d", m.made), Class: class,
		CPU: fmt.Sprint(m.random.IntN(3) + 1)}, labels)
}

// complete ends a pod as its kubelet would; the sweep removes it.
func (m *Mix) complete(ctx context.Context) error {
	for name, pod := range m.pool.pods() {
		if pod.Status.Phase == core.PodRunning && strings.HasPrefix(name, "p-") {
			return m.endPod(ctx, m.pool, name, core.PodSucceeded)
		}
	}
	return nil
}

func (m *Mix) endPod(ctx context.Context, pool *Pool, name string, phase core.PodPhase) error {
	_, err := m.t.plane.Client.CoreV1().Pods(pool.name).Patch(ctx, name, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"status":{"phase":%q}}`, phase)), meta.PatchOptions{}, "status")
	return err
}

// sweep removes what controllers would remove: finished pods, and groups without pods.
func (m *Mix) sweep(ctx context.Context) error {
	for name, pod := range m.pool.pods() {
		if pod.Status.Phase != core.PodSucceeded && pod.Status.Phase != core.PodFailed {
			continue
		}
		err := m.t.plane.Client.CoreV1().Pods(m.pool.name).Delete(ctx, name, meta.DeleteOptions{})
		if err != nil && !errors.IsNotFound(err) {
			return err
		}
	}
	return m.Soak.sweep(ctx)
}

// changeQueue edits a weight, or removes a queue and makes it again.
func (m *Mix) changeQueue(ctx context.Context) error {
	client := m.t.plane.Dynamic.Resource(queueResource)
	if m.random.IntN(3) > 0 {
		name := []string{"mix-a", "mix-b", "mix-team", "mix-c"}[m.random.IntN(4)]
		_, err := client.Patch(ctx, name, types.MergePatchType, []byte(fmt.Sprintf(
			`{"spec":{"weight":%d}}`, 1+m.random.IntN(5))), meta.PatchOptions{})
		return err
	}
	err := client.Delete(ctx, "mix-b", meta.DeleteOptions{})
	if errors.IsNotFound(err) {
		return m.t.tryCreate("{kind: Queue, metadata: {name: mix-b}, spec: {weight: 1}}")
	}
	return err
}

// changeCapacity: a node offers less than it has, or all of it again.
func (m *Mix) changeCapacity(ctx context.Context, node string, cpus int) error {
	_, err := m.t.plane.Client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"status":{"allocatable":{"cpu":"%d"}}}`, cpus)), meta.PatchOptions{},
		"status")
	return err
}

// changeDaemons: pods of a DaemonSet that is trusted come onto all nodes, or leave them.
func (m *Mix) changeDaemons(ctx context.Context) error {
	client := m.t.plane.Client.AppsV1().DaemonSets("kube-system")
	err := client.Delete(ctx, "mix-agent", meta.DeleteOptions{})
	if errors.IsNotFound(err) {
		m.t.apply(daemonSetText("kube-system", "mix-agent", m.pool.name))
		return nil
	}
	return err
}

// changeSession: one comes, ends, fails, is resumed or deleted.
func (m *Mix) changeSession(ctx context.Context, realm *Realm) error {
	client := m.t.plane.Dynamic.Resource(sessionResource).Namespace(realm.name)
	list, err := client.List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	if m.random.IntN(mixSessions) >= len(list.Items)/2 {
		return m.arriveSession(ctx, realm)
	}
	object := list.Items[m.random.IntN(len(list.Items))]
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	fate, _, _ := unstructured.NestedString(object.Object, "status", "fate")
	switch {
	case phase == "running" && m.random.IntN(4) > 0:
		return m.endKernels(ctx, realm, object.GetUID())
	case phase == "preempted" && fate == "on-request":
		m.t.makeway("session", "resume", "--kubeconfig", m.t.plane.adminConfig,
			realm.name+"/"+object.GetName())
		return nil
	case phase == "ended" || m.random.IntN(4) == 0:
		return client.Delete(ctx, object.GetName(), meta.DeleteOptions{})
	}
	return nil
}

// endKernels: all its pods succeed, or one fails or is deleted.
func (m *Mix) endKernels(ctx context.Context, realm *Realm, session types.UID) error {
	how := m.random.IntN(6)
	for name, pod := range realm.pods() {
		owner := meta.GetControllerOf(&pod)
		if owner == nil || owner.UID != session || pod.Status.Phase != core.PodRunning {
			continue
		}
		switch how {
		case 0:
			return m.t.plane.Client.CoreV1().Pods(realm.name).Delete(ctx, name, meta.DeleteOptions{})
		case 1:
			return m.endPod(ctx, realm.Pool, name, core.PodFailed)
		}
		if err := m.endPod(ctx, realm.Pool, name, core.PodSucceeded); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mix) arriveSession(ctx context.Context, realm *Realm) error {
	m.made++
	more := []string{"requeue: true, ", "", "type: interactive, ",
		"type: inference, requeue: true, "}[m.random.IntN(4)]
	if realm.name == "mixdesks" {
		more += "partition: " + []string{"mixday, ", "mixnight, "}[m.random.IntN(2)]
	}
	text := realm.text(SessionText{Name: fmt.Sprintf("s-%06d", m.made), More: more,
		CPU: fmt.Sprint(1 + m.random.IntN(5)), Priority: []int{1, 5, 50}[m.random.IntN(3)],
		HasTwo: m.random.IntN(3) == 0})
	var object unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return err
	}
	_, err := m.t.plane.Dynamic.Resource(sessionResource).Namespace(realm.name).Create(ctx, &object,
		meta.CreateOptions{})
	return err
}

// rest: all nodes are there, and makeway has written nothing for half a minute.
func (m *Mix) rest() {
	m.reopen()
	for i := range mixNodes {
		m.t.must(m.changeCapacity(m.t.ctx, m.pool.node(i), soakCPUs), "node")
	}
	began, writes, calm := time.Now(), 0, time.Now()
	m.t.until(minutes(8), "makeway rests", func() (bool, string) {
		all := append(m.faulty.all(), m.planes.writes()...)
		if len(all) != writes {
			writes, calm = len(all), time.Now()
		}
		time.Sleep(time.Second)
		last := all[max(0, len(all)-20):]
		return time.Since(calm) > 30*time.Second, fmt.Sprintf("the last writes: %v\n%s", last,
			m.tail())
	})
	m.t.note("the last write was %.0f s after the last change", calm.Sub(began).Seconds())
}

func (m *Mix) judge() {
	t := m.t
	m.look()
	m.planes.judge(m.tail)
	m.explained()
	m.inVain()
	m.foreignPodsUntouched()
	m.gangs()
	for _, realm := range m.realms {
		m.sessions(realm)
	}
	m.shares()
	m.nothingLeft()
	for _, name := range []string{"makeway_assumed_objects", "makeway_unsent_actions"} {
		m.scheduler.awaitFigure(t, name, 0)
	}
	t.note("%v: %d made, %d changes refused, %d writes of makeway", t.load.lasts, m.made, m.lost,
		len(m.faulty.all()))
	m.flat()
}

// foreignPodsUntouched: no write of ours is about a pod of another scheduler.
func (m *Mix) foreignPodsUntouched() {
	for _, write := range m.faulty.all() {
		if write.Namespace == "mixheld" || write.Namespace == "shop" {
			m.t.fail("a foreign pod was touched: %s", write)
		}
	}
}

// gangs: of three pods that are there all are bound or none; of one of mode all no member stays
// when we evicted one of them. Names are used once.
func (m *Mix) gangs() {
	there, bound := map[string]int{}, map[string]int{}
	for name, pod := range m.pool.pods() {
		group, _, isMember := strings.Cut(name, "-")
		if !isMember || !strings.HasPrefix(name, "g") {
			continue
		}
		there[group]++
		if pod.Spec.NodeName != "" {
			bound[group]++
		}
	}
	for group, count := range there {
		if count == 3 && bound[group] != 0 && bound[group] != 3 {
			m.t.fail("of %s only %d of 3 pods are bound\n%s", group, bound[group], m.tail())
		}
	}
	for _, write := range m.faulty.removals() {
		group, _, _ := strings.Cut(write.Name, "-")
		if m.whole[group] && write.Code/100 == 2 && bound[group] > 0 {
			m.t.fail("%s was evicted, and %d pods of its gang stay\n%s", write.Name,
				bound[group], m.tail())
		}
	}
	m.t.note("%d gangs are there, %d of them with bound pods", len(there), len(bound))
}

// sessions: one that runs has exactly its pods, where its status says; the others have none.
func (m *Mix) sessions(realm *Realm) {
	list, err := m.t.plane.Dynamic.Resource(sessionResource).Namespace(realm.name).List(m.t.ctx,
		meta.ListOptions{})
	m.t.must(err, "sessions")
	left, phases := map[string]core.Pod{}, map[string]int{}
	for name, pod := range realm.pods() {
		if pod.Status.Phase != core.PodSucceeded && pod.Status.Phase != core.PodFailed {
			left[name] = pod
		}
	}
	for _, object := range list.Items {
		status, _, _ := unstructured.NestedMap(object.Object, "status")
		phase, _ := status["phase"].(string)
		phases[phase]++
		if phase == "" {
			m.t.fail("%s waits without a phase: %v\n%s", object.GetName(), status, m.tail())
		}
		if status["endsAt"] != nil {
			m.t.fail("%s is leaving and does not: %v\n%s", object.GetName(), status, m.tail())
		}
		if phase != "running" {
			continue
		}
		kernels, _, _ := unstructured.NestedSlice(status, "kernels")
		for _, each := range kernels {
			kernel := each.(map[string]any)
			name := fmt.Sprintf("%s-%s-%v", object.GetName(), kernel["name"], status["preemptions"])
			pod, found := left[name]
			finished := realm.pods()[name]
			if !found && finished.Status.Phase == core.PodSucceeded {
				continue // The other kernel still works.
			}
			if !found || pod.Spec.NodeName != kernel["node"] || pod.Status.Phase != core.PodRunning {
				m.t.fail("%s is to run as %v: %v\n%s", name, kernel, pod.Status.Phase, m.tail())
			}
			delete(left, name)
		}
	}
	for name := range left {
		m.t.fail("pod %s/%s has no session that runs\n%s", realm.name, name, m.tail())
	}
	m.t.note("%s at the end: %v", realm.name, phases)
}

// shares: queues say what their pods use, and a plan of the cluster as it is has nothing to add.
func (m *Mix) shares() {
	used := map[string]int64{}
	for _, pod := range m.pool.pods() {
		if pod.Spec.NodeName != "" && pod.Status.Phase != core.PodSucceeded {
			used[pod.Labels["makeway.dev/queue"]] +=
				pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
	}
	list, err := m.t.plane.Dynamic.Resource(queueResource).List(m.t.ctx, meta.ListOptions{})
	m.t.must(err, "queues")
	text := ""
	for _, queue := range list.Items {
		cpu := func(field string) int64 {
			amounts, _, _ := unstructured.NestedMap(queue.Object, "status", field)
			amount, err := resource.ParseQuantity(fmt.Sprint(amounts["cpu"]))
			if err != nil {
				return 0
			}
			return amount.MilliValue()
		}
		name := queue.GetName()
		text += fmt.Sprintf(" %s deserves %d, may use %d, uses %d;", name, cpu("deserved"),
			cpu("allocated"), cpu("used"))
		if name != "mix-team" && cpu("used") != used[name] {
			m.t.fail("the pods of %s use %dm, and it says%s\n%s", name, used[name], text, m.tail())
		}
	}
	m.t.note("CPU/1000:%s", text)
	(&Shares{Pool: m.pool}).agrees(m.scheduler, m.rules()...)
}

// nothingLeft: a plan of the cluster as it is starts no session and evicts none. (About pods it
// would say more than makeway does: a plan does not know other schedulers.)
func (m *Mix) nothingLeft() {
	var plan struct {
		Actions []struct{ Type, Namespace, Name, For string }
	}
	text := m.t.succeed(append([]string{"plan", "--kubeconfig", m.t.reader(), "-o", "json"},
		m.rules()...)...)
	m.t.must(json.Unmarshal([]byte(text), &plan), "plan")
	for _, action := range plan.Actions {
		for _, realm := range m.realms {
			acts := action.Type == "bind" || action.Type == "evict" || action.Type == "requeue"
			if action.Namespace == realm.name && acts {
				m.t.fail("a plan would still %v\n%s", action, m.tail())
			}
		}
	}
}

func (m *Mix) clear() {
	for _, process := range m.t.plane.schedulers {
		process.stop(syscall.SIGTERM, 20*time.Second)
	}
	err := m.t.plane.Client.AppsV1().DaemonSets("kube-system").Delete(m.t.ctx, "mix-agent",
		meta.DeleteOptions{})
	if err != nil && !errors.IsNotFound(err) {
		m.t.must(err, "DaemonSet")
	}
	m.pool.clear()
	(&Pool{t: m.t, name: "mixheld"}).clear()
	for _, realm := range m.realms {
		m.t.must(m.t.plane.Dynamic.Resource(sessionResource).Namespace(realm.name).
			DeleteCollection(m.t.ctx, meta.DeleteOptions{}, meta.ListOptions{}), "sessions")
		realm.clear()
	}
	m.reopen()
}
