// Command peer-kube times the preemption of kube-scheduler 1.37.1 and compares it with makeway.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

const usage = `usage:
  peer-kube time [--runs N] CASE.json...             time kube-scheduler, one JSON line a case
  peer-kube table MAKEWAY.jsonl KUBE.jsonl CASE.json...  one table of both, answers checked
A case is a v1 List of Nodes, Pods, PodGroups and PodDisruptionBudgets; the ask is the pod default/ask
or the pending members of the group default/ask.`

// As shipped, 1.37 has no pod groups; they are turned on where a gang asks. A synchronous executor
// returns when all victims are known.
const gates = "GenericWorkload=%t,SchedulerAsyncPreemption=false"

func main() {
	klog.SetLogger(logr.Discard())
	commands := map[string]func([]string) error{"time": timeCases, "table": printTable}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer-kube:", err)
		os.Exit(1)
	}
}

func timeCases(args []string) error {
	set := flag.NewFlagSet("time", flag.ExitOnError)
	runs := set.Int("runs", 11, "runs a case and mode after one to warm up; fewer when slow")
	_ = set.Parse(args)
	if *runs < 1 {
		return fmt.Errorf("--runs %d: at least 1", *runs)
	}
	for _, path := range set.Args() {
		if err := timeCase(path, *runs); err != nil {
			return fmt.Errorf("%s: %w", caseName(path), err)
		}
	}
	return nil
}

func timeCase(path string, runs int) error {
	c, err := readCluster(path)
	if err != nil {
		return err
	}
	setting := fmt.Sprintf(gates, c.isGang)
	if err := utilfeature.DefaultMutableFeatureGate.Set(setting); err != nil {
		return err
	}
	line := kubeLine{Case: caseName(path)}
	if line.Sampled, err = measure(c, asShipped, runs); err != nil {
		return fmt.Errorf("sampled: %w", err)
	}
	if !c.isGang { // For groups there is no sample of candidates.
		if line.Every, err = measure(c, everyNode, runs); err != nil {
			return fmt.Errorf("every node: %w", err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(line)
}

// caseName is the file's name without folder and extension.
func caseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
