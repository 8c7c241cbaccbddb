package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// kubeLine is what `time` prints for a case.
type kubeLine struct {
	Case    string      `json:"case"`
	Sampled measurement `json:"sampled"`
	Every   measurement `json:"every"`
}

// measurement of one mode. The sample begins at a random node, so answers differ between runs:
// places and victims are those of the last run, the spans are over all. No places: no eviction
// helps.
type measurement struct {
	Median          float64           `json:"median"` // Microseconds, as the next. 0: not measured.
	Fastest         float64           `json:"fastest"`
	Placements      map[string]string `json:"placements"`
	Victims         []string          `json:"victims"`
	VictimCount     span              `json:"victimCount"`
	HighestPriority span              `json:"highestPriority"`
}

// span is the least and the greatest value seen.
type span struct {
	Least    int32 `json:"least"`
	Greatest int32 `json:"greatest"`
}

func (s span) with(value span) span {
	return span{min(s.Least, value.Least), max(s.Greatest, value.Greatest)}
}

func only(value int32) span { return span{value, value} }

// checkSeen refuses what is no answer, or a wrong one. That no eviction helps is an answer.
func (c *cluster) checkSeen(seen *sighting) error {
	switch {
	case seen.status == nil:
		return fmt.Errorf("the ask fits without preemption")
	case seen.status.IsSuccess():
		return c.check(seen.placements, seen.victims)
	case seen.status.IsRejected():
		return nil
	}
	return seen.status.AsError()
}

// enough is when no further run is worth its time.
const enough = 5 * time.Second

// measure runs the cycle again and again; the answer of every run is checked.
func measure(c *cluster, args config.DefaultPreemptionArgs, runs int) (measurement, error) {
	l, err := load(c, args)
	if err != nil {
		return measurement{}, err
	}
	defer l.close()
	var result measurement
	var times []float64
	var spent time.Duration
	for run := 0; run <= runs && (len(times) == 0 || spent < enough); run++ {
		runtime.GC() // The last run's garbage is not this run's.
		seen := l.cycle()
		if err := c.checkSeen(seen); err != nil {
			return result, err
		}
		spent += seen.elapsed
		count, highest := only(int32(len(seen.victims))), only(c.highestPriority(seen.victims))
		if run == 0 {
			result.VictimCount, result.HighestPriority = count, highest
		}
		if run == 0 && seen.elapsed < enough { // Warms up; long runs need not.
			continue
		}
		times = append(times, float64(seen.elapsed.Nanoseconds())/1e3)
		result.Placements, result.Victims = seen.placements, seen.victims
		result.VictimCount = result.VictimCount.with(count)
		result.HighestPriority = result.HighestPriority.with(highest)
	}
	slices.Sort(times)
	slices.Sort(result.Victims)
	result.Median, result.Fastest = times[len(times)/2], times[0]
	return result, nil
}
