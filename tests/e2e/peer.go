package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

//go:embed peer/loads.yaml
var peerLoadsText []byte

// Load is a cluster and what is asked of it.
type Load struct {
	Name                        string
	Nodes, Low, Asks, PerSecond int
	Gangs, Members, Waiting     int
}

// words say what it is, with its sizes.
func (l Load) words() string {
	text := fmt.Sprintf("%d urgent pods", l.Asks)
	if l.Low == 0 {
		text = fmt.Sprintf("%d pods", l.Asks)
	}
	if l.Gangs > 0 {
		text = fmt.Sprintf("%d gangs of %d urgent pods", l.Gangs, l.Members)
	}
	if l.PerSecond > 0 {
		text += fmt.Sprintf(", %d a second,", l.PerSecond)
	} else {
		text += " at once"
	}
	text += fmt.Sprintf(" on %d nodes with %d pods each", l.Nodes, l.Low)
	if l.Waiting > 0 {
		text += fmt.Sprintf(", while %d wait that fit nowhere", l.Waiting)
	}
	return l.Name + ": " + text
}

// victims that are needed: one an ask where the nodes are full.
func (l Load) victims() int {
	if l.Low == 0 {
		return 0
	}
	return l.Asks
}

// peerLoads are those whose name contains the words, at that scale.
func peerLoads(words string, scale float64) ([]Load, error) {
	var all, chosen []Load
	if err := yaml.UnmarshalStrict(peerLoadsText, &all); err != nil {
		return nil, err
	}
	scaled := func(number int) int {
		if number == 0 {
			return 0
		}
		return max(2, int(float64(number)*scale))
	}
	for _, load := range all {
		if !strings.Contains(load.Name, words) {
			continue
		}
		load.Nodes, load.Asks, load.Waiting = scaled(load.Nodes), scaled(load.Asks),
			scaled(load.Waiting)
		if load.Gangs > 0 {
			load.Gangs = min(scaled(load.Gangs), load.Nodes*load.Low/load.Members)
			load.Asks = load.Gangs * load.Members
		}
		chosen = append(chosen, load)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no load has %q in its name", words)
	}
	return chosen, nil
}

// PeerOptions are the flags of a comparison.
type PeerOptions struct {
	Binaries, Words string
	Scale           float64
	Rounds, Flight  int
	Keep            bool
	Contenders      []string
	KubeQPS         int // 0: as it ships.
}

// Peer is the control plane with the cluster that the loads are put on.
type Peer struct {
	*T
	options PeerOptions
	client  *kubernetes.Clientset // Ours: makes pods and watches them, cheaply.
	nodes   int
	probes  int
	page    *Scheduler // Of makeway, while it runs: its metrics say where its time went.
}

// runPeer compares, prints the tables, and returns the exit status.
func runPeer(options PeerOptions) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	loads, err := peerLoads(options.Words, options.Scale)
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer-kube:", err)
		return 2
	}
	dir, err := os.MkdirTemp("", "makeway-peer-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer-kube:", err)
		return 1
	}
	plane, err := StartPlane(ctx, options.Binaries, dir)
	defer plane.Stop()
	if err == nil {
		err = comparePeers(&T{ctx: ctx, plane: plane, dir: dir}, options, loads)
	}
	if err != nil {
		fmt.Printf("peer-kube: %v\npeer-kube: logs are in %s\n", err, dir)
		return 1
	}
	if options.Keep {
		fmt.Printf("peer-kube: logs are in %s\n", dir)
		return 0
	}
	os.RemoveAll(dir)
	return 0
}

func comparePeers(t *T, options PeerOptions, loads []Load) (err error) {
	defer func() {
		if why := recover(); why != nil {
			known, ok := why.(failure)
			if !ok {
				panic(why)
			}
			err = fmt.Errorf("%s", known.text)
		}
	}()
	began := time.Now()
	peer := &Peer{T: t, options: options}
	peer.begin()
	var wrong []string
	for number, load := range loads {
		peer.prepare(load)
		fmt.Printf("peer-kube: %s; ready after %.0f s\n", load.words(), seconds(began))
		results := map[string][]Result{}
		for round := range options.Rounds {
			for i := range options.Contenders {
				name := options.Contenders[(i+round)%len(options.Contenders)]
				result := peer.measure(load, name, fmt.Sprintf("%d-%d-%s", number, round, name))
				fmt.Printf("peer-kube:   round %d, %s\n", round+1, result.line(name))
				wrong = append(wrong, result.complaints(load, name)...)
				results[name] = append(results[name], result)
				peer.clear(load)
			}
		}
		printPeerTable(load, options.Contenders, results)
	}
	fmt.Printf("\npeer-kube: %d rounds in %.0f s\n", options.Rounds, seconds(began))
	if len(wrong) > 0 {
		return fmt.Errorf("wrong answers:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// schedule starts a contender and waits until it has bound a pod; stop ends it.
func (p *Peer) schedule(name, folder string) (process *Process, stop func()) {
	switch name {
	case "makeway":
		scheduler := p.scheduler(folder, "event=sight ", "--set",
			"live.maxEvictionsPerMinute=1000000") // The brake is for people, not for a race.
		p.page = scheduler
		time.Sleep(6 * time.Second) // It evicts nothing in its first five seconds.
		process, stop = scheduler.process, func() {
			scheduler.end(p.T)
			p.page = nil
		}
	case "kube-scheduler":
		var more []string
		if p.options.KubeQPS > 0 {
			more = []string{"--kube-api-qps", fmt.Sprint(p.options.KubeQPS), "--kube-api-burst",
				fmt.Sprint(2 * p.options.KubeQPS)}
		}
		kube, err := p.plane.startScheduler(more...)
		p.must(err, name)
		process, stop = kube, func() { kube.stop(syscall.SIGTERM, 5*time.Second) }
	case "floor":
		return nil, func() {}
	default:
		p.fail("there is no contender %q", name)
	}
	p.probes++
	probe := p.pod(fmt.Sprintf("probe-%d", p.probes), "probe", schedulerOf(name))
	probe.Spec.NodeSelector = map[string]string{"peer": "probe"}
	p.must(p.create(probe), "probe")
	p.until(minutes(2), name+" binds a first pod", func() (bool, string) {
		pods := p.list("role=probe")
		return len(pods) == 1 && pods[0].Spec.NodeName != "", "not bound"
	})
	p.erase("role=probe")
	p.quiet(process, 20*time.Second)
	return process, stop
}

func schedulerOf(contender string) string {
	if contender == "kube-scheduler" {
		return core.DefaultSchedulerName
	}
	return contender
}

// quiet waits until a scheduler has nothing to do any more, or for the patience.
func (p *Peer) quiet(process *Process, patience time.Duration) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		before := processCPU(process)
		time.Sleep(time.Second)
		if processCPU(process)-before <= 30*time.Millisecond {
			return
		}
	}
}

// processCPU is what a running process has used, as the kernel counts it: 10 ms.
func processCPU(process *Process) time.Duration {
	if process == nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(process.cmd.Process.Pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system int64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// processMemory in MB: VmHWM is the most that a running process has had, VmRSS what it has now.
func processMemory(process *Process, what string) int {
	if process == nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(process.cmd.Process.Pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int
		if count, _ := fmt.Sscanf(line, what+": %d", &kilobytes); count == 1 {
			return kilobytes >> 10
		}
	}
	return 0
}
