// Command kube_volumes answers random clusters with volumes and claims by kube-scheduler's own code.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

const usage = `usage: kube_volumes generate [--group] --seed N --count N > snapshots.jsonl
       kube_volumes answer < snapshots.jsonl > answers.jsonl`

func main() {
	klog.SetLogger(logr.Discard())
	err := fmt.Errorf("%s", usage)
	if len(os.Args) > 1 && os.Args[1] == "generate" {
		err = generate(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == "answer" {
		err = answerAll(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(arguments []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "cluster number i depends on the seed and i only")
	count := flags.Int("count", 100, "how many")
	group := flags.Bool("group", false, "a pod group asks, not a pod")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for i := range *count {
		if err := encoder.Encode(randomCluster(*seed, uint64(i), *group)); err != nil {
			return err
		}
	}
	return nil
}

// answerAll prints one answer for each line, in the format of kubeoracle's results.
func answerAll(from io.Reader, to io.Writer) error {
	// The answer is there when the call returns, and pod groups exist.
	const gates = "SchedulerAsyncPreemption=false,GenericWorkload=true"
	if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(from, 1<<20)
	out := bufio.NewWriter(to)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			if err := encoder.Encode(answer(line)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
