package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// makewayLine is what bench/plan.cpp and bench/gang.cpp write for a case, as far as it is needed
// here. A pod has a node, a gang has placements.
type makewayLine struct {
	Case               string            `json:"case"`
	Outcome            string            `json:"outcome"`
	Node               string            `json:"node"`
	Placements         map[string]string `json:"placements"`
	Victims            []string          `json:"victims"`
	DecideMicroseconds struct {
		Median float64 `json:"median"`
	} `json:"decideMicroseconds"`
}

// places of the ask; none when no eviction helps.
func (l makewayLine) places() map[string]string {
	if l.Node != "" {
		return map[string]string{askKey: l.Node}
	}
	return l.Placements
}

func (l makewayLine) name() string    { return l.Case }
func (l makewayLine) median() float64 { return l.DecideMicroseconds.Median }
func (l kubeLine) name() string       { return l.Case }

// readLines groups the lines of a file by case: a case has one line a round.
func readLines[Line interface{ name() string }](path string) (map[string][]Line, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rounds := map[string][]Line{}
	for decoder := json.NewDecoder(bufio.NewReader(file)); decoder.More(); {
		var line Line
		if err := decoder.Decode(&line); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		rounds[line.name()] = append(rounds[line.name()], line)
	}
	return rounds, nil
}

var headings = []string{"case", "makeway us", "kube sampled us", "kube every node us",
	"victims: makeway", "sampled", "every", "highest priority: makeway", "sampled", "every"}

func printTable(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("table needs two files of lines and the cases")
	}
	makeway, err := readLines[makewayLine](args[0])
	if err != nil {
		return err
	}
	kube, err := readLines[kubeLine](args[1])
	if err != nil {
		return err
	}
	rows := [][]string{headings}
	for _, path := range args[2:] {
		row, err := tableRow(path, makeway[caseName(path)], kube[caseName(path)])
		if err != nil {
			return fmt.Errorf("%s: %w", caseName(path), err)
		}
		rows = append(rows, row)
	}
	printAligned(rows)
	fmt.Println("us: median of one decision, (x): times makeway's; 0 victims: no eviction helps")
	fmt.Println("gangs: kube-scheduler samples no candidates for a group, so there is one figure")
	return nil
}

// tableRow also checks makeway's answer, in the same way as kube-scheduler's was.
func tableRow(path string, makeway []makewayLine, kube []kubeLine) ([]string, error) {
	if len(makeway) == 0 || len(kube) == 0 {
		return nil, fmt.Errorf("%d lines of makeway, %d of kube-scheduler", len(makeway), len(kube))
	}
	c, err := readCluster(path)
	if err != nil {
		return nil, err
	}
	answer := makeway[0]
	for _, line := range makeway {
		if !maps.Equal(line.places(), answer.places()) || !slices.Equal(line.Victims, answer.Victims) {
			return nil, fmt.Errorf("makeway's answer changed from one round to the next")
		}
	}
	if len(answer.places()) > 0 {
		if err := c.check(answer.places(), answer.Victims); err != nil {
			return nil, fmt.Errorf("makeway: %w", err)
		}
	}
	own := measurement{
		Median:          middle(makeway, makewayLine.median),
		VictimCount:     only(int32(len(answer.Victims))),
		HighestPriority: only(c.highestPriority(answer.Victims)),
	}
	sampled := over(kube, func(l kubeLine) measurement { return l.Sampled })
	every := over(kube, func(l kubeLine) measurement { return l.Every })
	return []string{caseName(path), fmt.Sprintf("%.0f", own.Median),
		withRatio(sampled.Median, own.Median), withRatio(every.Median, own.Median),
		own.count(), sampled.count(), every.count(),
		own.highest(), sampled.highest(), every.highest()}, nil
}

// count of victims, where there was a measurement.
func (m measurement) count() string {
	if m.Median == 0 {
		return "-"
	}
	return m.VictimCount.String()
}

// highest priority of a victim, where there are victims.
func (m measurement) highest() string {
	if m.VictimCount.Greatest == 0 {
		return "-"
	}
	return m.HighestPriority.String()
}

// over joins the rounds of one mode: the median of the medians, the spans over all.
func over(rounds []kubeLine, mode func(kubeLine) measurement) measurement {
	joined := mode(rounds[0])
	for _, round := range rounds {
		joined.VictimCount = joined.VictimCount.with(mode(round).VictimCount)
		joined.HighestPriority = joined.HighestPriority.with(mode(round).HighestPriority)
	}
	joined.Median = middle(rounds, func(l kubeLine) float64 { return mode(l).Median })
	return joined
}

func middle[Line any](lines []Line, value func(Line) float64) float64 {
	var values []float64
	for _, line := range lines {
		values = append(values, value(line))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func withRatio(microseconds, own float64) string {
	if microseconds == 0 {
		return "-"
	}
	digits := 0
	if microseconds < 10*own {
		digits = 1
	}
	return fmt.Sprintf("%.0f (%.*f x)", microseconds, digits, microseconds/own)
}

func (s span) String() string {
	if s.Least == s.Greatest {
		return fmt.Sprint(s.Least)
	}
	return fmt.Sprintf("%d to %d", s.Least, s.Greatest)
}

// printAligned prints Markdown that can be read as it is.
func printAligned(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for number, row := range rows {
		var cells, rules []string
		for i, cell := range row {
			cells = append(cells, fmt.Sprintf("%-*s", widths[i], cell))
			rules = append(rules, strings.Repeat("-", widths[i]+2))
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
		if number == 0 {
			fmt.Printf("|%s|\n", strings.Join(rules, "|"))
		}
	}
}
