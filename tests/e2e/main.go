// Command e2e runs makeway against a real Kubernetes control plane that it starts itself.
//
// Each test is one line with its time. Whatever happens (a failing test, a panic, Ctrl-C), the
// programs that were started are stopped; when a test fails, their logs are kept and named.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Test is one question to makeway and the cluster.
type Test struct {
	Name  string
	Run   func(*T)
	Night bool // Too long for every change.
}

// T is what a test runs with; its methods end the test when something is wrong.
type T struct {
	ctx   context.Context
	plane *Plane
	dir   string // For files of this test.
	night bool
	soak  time.Duration
	load  RandomLoad
	notes []string
}

type failure struct{ text string }

func (t *T) fail(format string, arguments ...any) {
	panic(failure{fmt.Sprintf(format, arguments...)})
}

func (t *T) must(err error, what string) {
	if err != nil {
		t.fail("%s: %v", what, err)
	}
}

// note is printed below the line of the test.
func (t *T) note(format string, arguments ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, arguments...))
}

// slowness: a machine of CI may need so many times as long as ours, and stall for seconds.
const slowness = 3

// until asks again and again; the last answer is the reason when it never became true. It is asked
// for after the deadline: one that was asked for before may have taken all of the time.
func (t *T) until(patience time.Duration, what string, ask func() (bool, string)) {
	patience *= slowness
	deadline := time.Now().Add(patience)
	for {
		isLast := time.Now().After(deadline)
		done, why := ask()
		if done {
			return
		}
		if t.ctx.Err() != nil {
			t.fail("%s: interrupted", what)
		}
		if isLast {
			t.fail("%s: not within %v: %s", what, patience, why)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func allTests() []Test {
	tests := planTests()
	tests = append(tests, rightsTests()...)
	tests = append(tests, credentialTests()...)
	tests = append(tests, callTests()...)
	tests = append(tests, watchTests()...)
	// Before those that make many nodes: queues divide all of them.
	tests = append(tests, queueTests()...)
	tests = append(tests, sizeTests()...)
	tests = append(tests, kindTests()...)
	tests = append(tests, runTests()...)
	tests = append(tests, sessionTests()...)
	tests = append(tests, applyTests()...)
	tests = append(tests, faultTests()...)
	tests = append(tests, worldTests()...)
	tests = append(tests, planesTests()...)
	tests = append(tests, nightTests()...)
	tests = append(tests, togetherTests()...)
	// Last: kube-scheduler binds everything.
	tests = append(tests, shadowTests()...)
	return append(tests, blackboxTests()...)
}

func main() {
	binaries := flag.String("controlplane", "", "folder with kube-apiserver, etcd, kwok, ...")
	only := flag.String("run", "", "only tests whose name contains this")
	night := flag.Bool("night", false, "also the long ones, and larger clusters")
	load := flag.Duration("load", 30*time.Minute, "how long the night's random load lasts")
	draw := flag.Uint64("seed", 0, "of that load; 0: by the clock")
	soak := flag.Duration("soak", 0, "only the soak, for this time, such as 60m")
	keep := flag.Bool("keep", false, "keep the logs also when all is well")
	peer := flag.Bool("peer", false, "no tests: compare makeway and kube-scheduler under load")
	scale := flag.Float64("scale", 1, "with -peer: size of the loads, such as 0.1")
	rounds := flag.Int("rounds", 3, "with -peer: turns of each scheduler; medians are printed")
	flight := flag.Int("flight", 48, "with -peer: requests of the floor at once")
	contenders := flag.String("contenders", "makeway,kube-scheduler,floor", "with -peer: which run")
	kubeQPS := flag.Int("kube-qps", 0, "with -peer: kube-scheduler's --kube-api-qps, 0 as it ships")
	flag.Parse()
	if *peer {
		os.Exit(runPeer(PeerOptions{Binaries: *binaries, Words: *only, Scale: *scale,
			Rounds: *rounds, Flight: *flight, KubeQPS: *kubeQPS, Keep: *keep,
			Contenders: strings.Split(*contenders, ",")}))
	}
	if *draw == 0 {
		*draw = uint64(time.Now().Unix())
	}
	os.Exit(runAll(*binaries, RunOptions{only: *only, night: *night, soak: *soak, keep: *keep,
		load: RandomLoad{*load, *draw}}))
}

// RandomLoad has a seed, and lasts so long.
type RandomLoad struct {
	lasts time.Duration
	seed  uint64
}

// RunOptions: which tests to run, and how.
type RunOptions struct {
	only        string
	night, keep bool
	soak        time.Duration
	load        RandomLoad
}

func (w RunOptions) tests() []Test {
	if w.soak > 0 {
		return soakTests()
	}
	var tests []Test
	for _, test := range allTests() {
		if strings.Contains(test.Name, w.only) && (!test.Night || w.night) {
			tests = append(tests, test)
		}
	}
	return tests
}

func runAll(binaries string, options RunOptions) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	dir, err := os.MkdirTemp("", "makeway-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	began := time.Now()
	plane, err := StartPlane(ctx, binaries, dir)
	if err != nil {
		plane.Stop()
		fmt.Printf("e2e: the control plane did not start: %v\ne2e: its logs are in %s\n", err, dir)
		return 1
	}
	fmt.Printf("e2e: control plane %s ready after %.1f s\n", plane.Version, seconds(began))
	count, failed := 0, 0
	for _, test := range options.tests() {
		if ctx.Err() != nil {
			break
		}
		count++
		t := &T{ctx: ctx, plane: plane, dir: filepath.Join(dir, fmt.Sprintf("test-%02d", count)),
			night: options.night, soak: options.soak, load: options.load}
		if !t.runOne(test) {
			failed++
		}
	}
	plane.Stop()
	if left := plane.Left(); len(left) > 0 {
		fmt.Printf("e2e: still running after the end: %s\n", strings.Join(left, ", "))
		failed++
	}
	return conclude(ctx, summary{count: count, failed: failed, began: began, dir: dir,
		keep: options.keep})
}

type summary struct {
	count, failed int
	began         time.Time
	dir           string
	keep          bool
}

func conclude(ctx context.Context, s summary) int {
	status := 0
	switch {
	case ctx.Err() != nil:
		fmt.Printf("e2e: interrupted; everything that was started is stopped\n")
		status = 130
	case s.failed > 0 || s.count == 0:
		fmt.Printf("e2e: %d of %d tests failed after %.1f s\n", s.failed, s.count, seconds(s.began))
		status = 1
	default:
		fmt.Printf("e2e: all %d tests passed after %.1f s\n", s.count, seconds(s.began))
	}
	if status != 0 || s.keep {
		fmt.Printf("e2e: logs and files are in %s\n", s.dir)
	} else {
		os.RemoveAll(s.dir)
	}
	return status
}

// shortened keeps the beginning of a long text and its end, which says what happened last.
func shortened(text string) string {
	const first, last = 3, 37
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= first+last+1 {
		return text
	}
	left := fmt.Sprintf("... (%d lines)", len(lines)-first-last)
	return strings.Join(append(append(lines[:first:first], left), lines[len(lines)-last:]...), "\n")
}

func (t *T) runOne(test Test) (passed bool) {
	began := time.Now()
	defer func() {
		why := recover()
		verdict := "ok    "
		if why != nil {
			verdict = "FAILED"
		}
		fmt.Printf("%s %6.1f s  %s\n", verdict, seconds(began), test.Name)
		for _, note := range t.notes {
			fmt.Printf("                 %s\n", note)
		}
		if why == nil {
			passed = true
			return
		}
		text := fmt.Sprintf("%v\n%s", why, debug.Stack())
		if known, ok := why.(failure); ok {
			text = shortened(known.text)
		}
		fmt.Printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    "))
	}()
	t.must(os.MkdirAll(t.dir, 0o755), "folder of the test")
	test.Run(t)
	return true
}

func seconds(since time.Time) float64 { return time.Since(since).Seconds() }
