package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func soakTests() []Test {
	return []Test{{Name: "soak: arrivals, departures, node churn and API faults", Run: soak}}
}

const (
	soakNodes, soakCPUs = 20, 8
	soakPods            = 200 // About so many are there; 160 CPUs for 1 to 3 each.
)

// Soak is a cluster that never rests, and what was seen of makeway meanwhile.
type Soak struct {
	t         *T
	pool      *Pool
	nodes     []string // Those that come and go; named POOL-NUMBER.
	faulty    *Faulty
	scheduler *Scheduler
	random    *rand.Rand
	crowd     int // About so many pods are there.
	made      int
	whole     map[string]bool      // Gangs that leave as one.
	away      map[string]time.Time // Nodes that were deleted, and when they come back.
	memory    []int64              // Kilobytes, one each minute.
	peak      int                  // Of assumed objects.
	lost      int                  // Changes that the API server refused.
}

func soak(t *T) {
	pool, faulty := t.pool("soak", soakNodes, soakCPUs, 0), t.faulty()
	defer faulty.stop()
	t.apply("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: middle}, " +
		"value: 100}")
	journal := t.dir + "/run.journal"
	scheduler := t.start(faulty.URL, "makeway", "--journal", journal, "--journal-size", "8Mi",
		"--journal-files", "1", "--set", "live.evictAgainWindow=5s")
	scheduler.says(t, "event=sight ")
	s := &Soak{t: t, pool: pool, nodes: pool.nodes(soakNodes), faulty: faulty,
		scheduler: scheduler, random: rand.New(rand.NewPCG(11, 11)), crowd: soakPods,
		whole: map[string]bool{}, away: map[string]time.Time{}}
	faulty.obey(s.fault())
	began, looked := time.Now(), time.Time{}
	for tick := 0; time.Since(began) < t.soak && t.ctx.Err() == nil; tick++ {
		s.change(tick)
		if time.Since(looked) > min(t.soak/8, time.Minute) {
			looked = time.Now()
			s.look()
		}
		time.Sleep(time.Until(began.Add(time.Duration(tick+1) * 100 * time.Millisecond)))
	}
	if t.ctx.Err() != nil {
		t.fail("interrupted")
	}
	faulty.obey(nil)
	s.rest()
	s.judge()
	scheduler.end(t)
	// Only the last files of the journal are there; each begins with all objects.
	t.contains(t.succeed("replay", journal), "Every plan is the recorded one")
	pool.clear()
}

// fault: of a hundred writes six go wrong.
func (s *Soak) fault() func(Write) Fault {
	random := rand.New(rand.NewPCG(12, 12))
	return func(Write) Fault { // One at a time.
		switch random.IntN(100) {
		case 0:
			return Fault{Answer: overload()}
		case 1:
			return Fault{Answer: tooLate()}
		case 2:
			return Fault{Answer: tooLate(), IsDone: true}
		case 3:
			return Fault{Lost: true}
		case 4:
			return Fault{AnswerIsLost: true}
		case 5:
			held := newHeld()
			time.AfterFunc(time.Duration(random.IntN(8000))*time.Millisecond, held.release)
			return Fault{Hold: held.gate}
		}
		return Fault{}
	}
}

// change is one of ten a second.
func (s *Soak) change(tick int) {
	ctx, cancel := context.WithTimeout(s.t.ctx, 10*time.Second)
	defer cancel()
	var err error
	switch {
	case tick%100 == 50:
		err = s.changeNode(ctx)
	case tick%100 == 25:
		err = s.sweep(ctx)
	case tick%300 == 299:
		s.faulty.cut()
	case tick%10 == 0:
		err = s.returnNodes(ctx)
	case s.random.IntN(2) == 0:
		err = s.arrive(ctx)
	default:
		err = s.depart(ctx)
	}
	if err != nil {
		s.lost++
	}
}

func (s *Soak) arrive(ctx context.Context) error {
	s.made++
	class := []string{"low", "middle", "high"}[s.random.IntN(3)]
	if s.random.IntN(8) > 0 {
		return s.create(ctx, PodText{Name: fmt.Sprintf("p-%06d", s.made), Class: class,
			CPU: fmt.Sprint(s.random.IntN(3) + 1)}, nil)
	}
	return s.arriveGang(ctx, class, nil)
}

// arriveGang: three pods that run together or not at all.
func (s *Soak) arriveGang(ctx context.Context, class string, labels map[string]string) error {
	group, mode := fmt.Sprintf("g%06d", s.made), []string{"all", "single"}[s.random.IntN(2)]
	s.whole[group] = mode == "all"
	var object scheduling.PodGroup
	text := groupText(s.pool.name, group, class, mode, 3)
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		return err
	}
	object.Labels = labels
	if _, err := s.t.plane.Client.SchedulingV1beta1().PodGroups(s.pool.name).Create(ctx, &object,
		meta.CreateOptions{}); err != nil {
		return err
	}
	for i := range 3 {
		if err := s.create(ctx, PodText{Name: fmt.Sprintf("%s-%d", group, i), Class: class, CPU: "2",
			Group: group}, labels); err != nil {
			return err
		}
	}
	return nil
}

func (s *Soak) create(ctx context.Context, text PodText, labels map[string]string) error {
	text.Namespace, text.Scheduler = s.pool.name, "makeway"
	var pod core.Pod
	if err := yaml.Unmarshal([]byte(text.String()), &pod); err != nil {
		return err
	}
	maps.Copy(pod.Labels, labels)
	pod.Spec.NodeSelector = map[string]string{"pool": s.pool.name}
	_, err := s.t.plane.Client.CoreV1().Pods(s.pool.name).Create(ctx, &pod, meta.CreateOptions{})
	return err
}

// depart ends a pod, or a gang with all its pods; more of them when there are many.
func (s *Soak) depart(ctx context.Context) error {
	pods := s.pool.pods()
	var names []string
	for name := range pods {
		names = append(names, name)
	}
	if len(names) < s.crowd/2 {
		return s.arrive(ctx)
	}
	for range 1 + len(names)/s.crowd {
		name := names[s.random.IntN(len(names))]
		prefix := name
		if strings.HasPrefix(name, "g") {
			prefix = strings.SplitN(name, "-", 2)[0]
		}
		for each := range pods {
			if !strings.HasPrefix(each, prefix) {
				continue
			}
			err := s.t.plane.Client.CoreV1().Pods(s.pool.name).Delete(ctx, each, meta.DeleteOptions{})
			if err != nil && !errors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// sweep removes groups without pods, as their controllers would.
func (s *Soak) sweep(ctx context.Context) error {
	client := s.t.plane.Client.SchedulingV1beta1().PodGroups(s.pool.name)
	groups, err := client.List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for name := range s.pool.pods() {
		used[strings.SplitN(name, "-", 2)[0]] = true
	}
	for _, group := range groups.Items {
		if used[group.Name] || group.DeletionTimestamp != nil {
			continue
		}
		if err := client.Delete(ctx, group.Name, meta.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// changeNode closes or opens one, or deletes it; it comes back after some seconds, or after PodGC
// has removed its pods.
func (s *Soak) changeNode(ctx context.Context) error {
	name := s.nodes[s.random.IntN(len(s.nodes))]
	if _, gone := s.away[name]; gone {
		return nil
	}
	if s.random.IntN(3) > 0 {
		closed := s.random.IntN(2) == 0
		_, err := s.t.plane.Client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType,
			[]byte(fmt.Sprintf(`{"spec":{"unschedulable":%v}}`, closed)), meta.PatchOptions{})
		return err
	}
	pause := 3 * time.Second
	if s.random.IntN(2) == 0 {
		pause = 75 * time.Second
	}
	s.away[name] = time.Now().Add(pause)
	return s.t.plane.Client.CoreV1().Nodes().Delete(ctx, name, meta.DeleteOptions{})
}

func (s *Soak) returnNodes(ctx context.Context) error {
	for name, when := range s.away {
		if time.Now().Before(when) {
			continue
		}
		var node core.Node
		text := strings.Replace(nodeText(name, soakCPUs), "labels: {",
			"labels: {pool: "+name[:strings.LastIndex(name, "-")]+", ", 1)
		if err := yaml.Unmarshal([]byte(text), &node); err != nil {
			return err
		}
		_, err := s.t.plane.Client.CoreV1().Nodes().Create(ctx, &node, meta.CreateOptions{})
		if err != nil && !errors.IsAlreadyExists(err) {
			return err
		}
		delete(s.away, name)
	}
	return nil
}

// look: no node is overfull, nothing was a bug, and how much memory it takes.
func (s *Soak) look() {
	if !s.scheduler.process.running() {
		s.t.fail("makeway has ended:\n%s", s.tail())
	}
	s.fits()
	for _, name := range []string{"makeway_plans_refused_total", "makeway_asks_left_out_total",
		"makeway_missed_wakeups_total"} {
		if count := s.scheduler.figure(s.t, name); count != 0 {
			s.t.fail("%s is %d\n%s", name, count, s.tail())
		}
	}
	s.memory = append(s.memory, s.residentKB())
	s.peak = max(s.peak, s.scheduler.figure(s.t, "makeway_assumed_objects"))
	fmt.Printf("soak: %d pods made, %d writes, memory %d MB, %d pending, %d assumed\n", s.made,
		s.scheduler.figure(s.t, "makeway_writes_total"), s.memory[len(s.memory)-1]>>10,
		s.scheduler.figure(s.t, "makeway_pending_asks"),
		s.scheduler.figure(s.t, "makeway_assumed_objects"))
}

// tail of the log, which is long.
func (s *Soak) tail() string {
	text := s.scheduler.text()
	return text[max(0, len(text)-20000):]
}

func (s *Soak) fits() {
	if text := s.t.overfull(s.nodes); text != "" {
		s.t.fail("%s\n%s", text, s.tail())
	}
}

// overfull names the first of these nodes that has pods of more CPUs than it has.
func (t *T) overfull(nodes []string) string {
	pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx, meta.ListOptions{
		FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	t.must(err, "pods")
	used := map[string]int64{}
	for _, pod := range pods.Items {
		used[pod.Spec.NodeName] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	}
	for _, node := range nodes {
		if used[node] > soakCPUs*1000 {
			return fmt.Sprintf("%s has pods of %dm CPU, and %d CPUs", node, used[node], soakCPUs)
		}
	}
	return ""
}

// inVain: every pod that makeway deleted was bound before; names are used once.
func (s *Soak) inVain() {
	bound, deleted := map[string]bool{}, 0
	for _, write := range s.faulty.writes("POST pods/binding") {
		bound[write.Name] = bound[write.Name] || write.Code == 201
	}
	for _, write := range s.faulty.removals() {
		if write.Code/100 != 2 || write.Namespace != s.pool.name {
			continue
		}
		deleted++
		if !bound[write.Name] {
			s.t.fail("%s was deleted, though it held no room\n%s", write.Name, s.tail())
		}
	}
	s.t.note("%d pods bound, %d evicted", len(bound), deleted)
}

func (s *Soak) residentKB() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.scheduler.process.cmd.Process.Pid))
	s.t.must(err, "memory")
	var memory int64
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &memory)
	}
	return memory
}

// rest: all nodes are there and open, and makeway has nothing more to do.
func (s *Soak) rest() {
	s.reopen()
	s.t.settle()
	before, calm, changed := "", time.Now(), ""
	s.t.until(minutes(5), "makeway rests", func() (bool, string) {
		now := s.pool.versions()
		if now != before {
			changed = fmt.Sprintf("changed at %s: %s", time.Now().UTC().Format(time.TimeOnly),
				newLines(before, now))
			before, calm = now, time.Now()
		}
		time.Sleep(time.Second)
		return time.Since(calm) > 15*time.Second, changed + "\n" + s.tail()
	})
}

// newLines are the first of those that were not there before.
func newLines(before, now string) string {
	known, found := map[string]bool{}, []string{}
	for _, line := range strings.Split(before, "\n") {
		known[line] = true
	}
	for _, line := range strings.Split(now, "\n") {
		if !known[line] && len(found) < 10 {
			found = append(found, line)
		}
	}
	return strings.Join(found, "; ")
}

// reopen brings all nodes back, and opens them.
func (s *Soak) reopen() {
	for name := range s.away {
		s.away[name] = time.Time{}
	}
	s.t.must(s.returnNodes(s.t.ctx), "nodes")
	for _, name := range s.nodes {
		_, err := s.t.plane.Client.CoreV1().Nodes().Patch(s.t.ctx, name, types.MergePatchType,
			[]byte(`{"spec":{"unschedulable":null}}`), meta.PatchOptions{})
		s.t.must(err, "node")
	}
}

// judge: every pod is bound or has a reason in its condition, nothing is assumed, memory is flat.
func (s *Soak) judge() {
	t := s.t
	s.look()
	s.explained()
	waiting, room := 0, map[string]int64{}
	for i := range soakNodes {
		room[s.pool.node(i)] = soakCPUs * 1000
	}
	for _, pod := range s.pool.pods() {
		if pod.Spec.NodeName == "" {
			waiting++
		} else {
			room[pod.Spec.NodeName] -= pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, name := range []string{"makeway_assumed_objects", "makeway_unsent_actions"} {
		s.scheduler.awaitFigure(t, name, 0)
	}
	pods, err := t.plane.Client.CoreV1().Pods("").List(t.ctx, meta.ListOptions{
		FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	t.must(err, "pods")
	s.scheduler.awaitFigure(t, "makeway_pods", len(pods.Items))
	s.inVain()
	s.probe(room)
	s.t.note("%v: %d pods made, %d wait at the end, %d changes refused, at most %d assumed", t.soak,
		s.made, waiting, s.lost, s.peak)
	s.t.note("writes %d, refused %d, without an answer %d, repeated %d; lists %d",
		s.scheduler.figure(t, "makeway_writes_total"),
		s.scheduler.figure(t, "makeway_writes_refused_total"),
		s.scheduler.figure(t, "makeway_writes_unknown_total"),
		s.scheduler.figure(t, "makeway_writes_repeated_total"),
		s.scheduler.figure(t, "makeway_lists_total"))
	s.flat()
}

// flat: memory does not grow.
func (s *Soak) flat() {
	first, last := s.memory[len(s.memory)/4], s.memory[len(s.memory)-1]
	s.t.note("memory after a quarter %d MB, at the end %d MB", first>>10, last>>10)
	if last > first+first/4+16<<10 {
		s.t.fail("memory grows: %v kB", s.memory)
	}
}

// explained waits until every waiting pod has its condition. A lost condition is written again when
// its pod is decided again, after five minutes at the latest.
func (s *Soak) explained() {
	began := time.Now()
	s.t.until(minutes(7), "waiting pods have a reason", func() (bool, string) {
		for name, pod := range s.pool.pods() {
			scheduled := condition(&pod, "PodScheduled")
			if pod.Spec.NodeName == "" && scheduled.Reason != "Unschedulable" {
				return false, fmt.Sprintf("%s: %+v\n%s", name, scheduled, s.tail())
			}
		}
		return true, ""
	})
	s.t.note("waiting pods had a reason %.0f s after the faults", seconds(began))
}

// probe: what is free is really free for makeway. All waiting pods are removed first.
func (s *Soak) probe(room map[string]int64) {
	for name, pod := range s.pool.pods() {
		if pod.Spec.NodeName == "" {
			s.pool.vanish(name)
		}
	}
	var names []string
	for node, free := range room {
		if free == 0 {
			continue
		}
		name := "probe-" + node
		names = append(names, name)
		s.t.apply(strings.Replace(PodText{Namespace: s.pool.name, Name: name, Class: "low",
			CPU: fmt.Sprintf("%dm", free), Scheduler: "makeway"}.String(), "spec: {",
			"spec: {nodeSelector: {kubernetes.io/hostname: "+node+"}, ", 1))
	}
	s.pool.bound(s.scheduler, names...)
	s.fits()
	s.t.note("%d nodes had room at the end, and exactly so much as makeway thought", len(names))
}
