package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func (r Result) bindsPerSecond() float64 { return float64(r.Bound) / r.Wall.Seconds() }

func (r Result) callsEach() float64 {
	return float64(r.Reads+r.Writes+r.EventWrites) / float64(max(1, r.Bound))
}

func milliseconds(of time.Duration) int64 { return of.Milliseconds() }

func (r Result) line(name string) string {
	var calls []string
	for _, what := range slices.Sorted(maps.Keys(r.Calls)) {
		calls = append(calls, fmt.Sprintf("%s %d", what, r.Calls[what]))
	}
	return fmt.Sprintf("%s: %d bound in %.1f s, p50 %d ms, p99 %d ms, %d victims (%d too many), "+
		"CPU %.2f s, API server %.1f s; %s", name, r.Bound, r.Wall.Seconds(), milliseconds(r.P50),
		milliseconds(r.P99), r.Victims, r.Excess, r.CPU.Seconds(), r.ServerCPU.Seconds(),
		strings.Join(append(calls, r.Inside), ", "))
}

// complaints are why the figures are worth nothing. That kube-scheduler evicts too many is a
// figure of the table; that we do is an error.
func (r Result) complaints(load Load, name string) []string {
	var wrong []string
	complain := func(format string, arguments ...any) {
		wrong = append(wrong, fmt.Sprintf(load.Name+": "+name+": "+format, arguments...))
	}
	if r.Bound != load.Asks {
		complain("%d of %d asks bound", r.Bound, load.Asks)
	}
	if r.Overfull != "" {
		complain("%s", r.Overfull)
	}
	if r.Excess < 0 || (r.Excess > 0 && name != "kube-scheduler") {
		complain("%d pods left for %d asks", r.Victims, load.Asks)
	}
	return wrong
}

func median[Of any, Number cmp.Ordered](results []Of, of func(Of) Number) Number {
	var values []Number
	for _, result := range results {
		values = append(values, of(result))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// printPeerTable prints medians as markdown, and the ratios that are our goals.
func printPeerTable(load Load, contenders []string, results map[string][]Result) {
	fmt.Printf("\n**%s**\n\n| | binds/s | p50 ms | p99 ms | victims (too many) | CPU s | MB | "+
		"API server CPU s | MB | calls a pod (of them events) |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n", load.words())
	for _, name := range contenders {
		all := results[name]
		cpu, memory := "-", "-"
		if name != "floor" {
			cpu = fmt.Sprintf("%.2f", median(all, func(r Result) float64 { return r.CPU.Seconds() }))
			memory = fmt.Sprint(median(all, func(r Result) int { return r.MemoryMB }))
		}
		worst := 0
		for _, each := range all {
			worst = max(worst, each.Excess)
		}
		excess := fmt.Sprint(median(all, func(r Result) int { return r.Excess }))
		if fmt.Sprint(worst) != excess {
			excess += fmt.Sprintf(", at worst %d", worst)
		}
		fmt.Printf("| %s | %.1f | %d | %d | %d (%s) | %s | %s | %.1f | %d | %.1f (%.1f) |\n", name,
			median(all, Result.bindsPerSecond),
			median(all, func(r Result) int64 { return milliseconds(r.P50) }),
			median(all, func(r Result) int64 { return milliseconds(r.P99) }),
			median(all, func(r Result) int { return r.Victims }), excess, cpu, memory,
			median(all, func(r Result) float64 { return r.ServerCPU.Seconds() }),
			median(all, func(r Result) int { return r.ServerMB }),
			median(all, Result.callsEach), median(all, func(r Result) float64 {
				return float64(r.EventWrites) / float64(max(1, r.Bound))
			}))
	}
	ours, kube, floor := results["makeway"], results["kube-scheduler"], results["floor"]
	if len(ours) == 0 || len(kube) == 0 || len(floor) == 0 {
		return
	}
	part := func(what func(Result) float64, of, whole []Result) float64 {
		return 100 * median(of, what) / max(1e-9, median(whole, what))
	}
	p50 := func(r Result) float64 { return r.P50.Seconds() }
	cpu := func(r Result) float64 { return r.CPU.Seconds() }
	fmt.Printf("\nmakeway: %.0f %% of the floor's binds a second, %.1f %% of kube-scheduler's p50, "+
		"%.1f %% of its CPU time.\n\n", part(Result.bindsPerSecond, ours, floor),
		part(p50, ours, kube), part(cpu, ours, kube))
}
