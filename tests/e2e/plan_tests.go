package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

func minutes(count int) time.Duration { return time.Duration(count) * time.Minute }

const readerUser = "system:serviceaccount:makeway:makeway-reader"

func planTests() []Test {
	return []Test{
		{Name: "the plan of the live cluster equals the plan of its dump", Run: planEqualsDump},
		{Name: "the snapshot of the live cluster equals the snapshot of its dump",
			Run: snapshotEqualsDump},
		{Name: "resourceVersions are untouched and nothing but reading is in the audit log",
			Run: nothingIsWritten},
		{Name: "what if: a job file that is not submitted", Run: whatIf},
	}
}

// quiet runs the comparison on a cluster that did not change meanwhile, not even through the
// comparison.
func (t *T) quiet(compare func(config, dump string)) {
	t.seed()
	config, path := t.reader(), t.dir+"/dump.json"
	for range 10 {
		before := t.dump(path)
		var problem any
		func() {
			defer func() { problem = recover() }()
			compare(config, path)
		}()
		if after := t.dump(t.dir + "/after.json"); before == after {
			if problem != nil {
				panic(problem)
			}
			return
		}
	}
	t.fail("the cluster is never quiet")
}

func planEqualsDump(t *T) {
	t.quiet(func(config, dump string) {
		for _, options := range [][]string{{}, {"--explain"}, {"-o", "json"},
			{"--preset", "kube-1.37"}, {"--ask", "shop/urgent", "--explain"}} {
			live := t.succeed(append([]string{"plan", "--kubeconfig", config}, options...)...)
			file := t.succeed(append([]string{"plan", "-f", dump, "--trust", "live"}, options...)...)
			t.equal("plan "+strings.Join(options, " "), file, live)
			t.contains(live, "urgent")
		}
	})
}

func snapshotEqualsDump(t *T) {
	t.quiet(func(config, dump string) {
		for _, format := range []string{"json", "yaml", "text"} {
			live := t.succeed("snapshot", "--kubeconfig", config, "-o", format)
			file := t.succeed("snapshot", "-f", dump, "-o", format)
			t.equal("snapshot -o "+format, withoutSize(file), withoutSize(live))
		}
	})
}

// withoutSize leaves out the line of an overview that says how much was read.
func withoutSize(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, " objects in ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func nothingIsWritten(t *T) {
	t.quiet(func(config, dump string) {
		from := t.auditBytes()
		t.succeed("plan", "--kubeconfig", config)
		t.succeed("snapshot", "--kubeconfig", config)
		t.succeed("check", "--kubeconfig", config)
		t.succeed("risk", "shop/web-1", "--kubeconfig", config)
		var seen []string
		t.until(minutes(1), "four lists of pods in the audit log", func() (bool, string) {
			seen = t.audited(readerUser, from)
			lists := strings.Count(strings.Join(seen, "\n"), "list /api/v1/pods 200")
			return lists == 4, fmt.Sprint(lists)
		})
		for _, request := range seen {
			if !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "get ") {
				t.fail("makeway sent: %s", request)
			}
			if !strings.HasSuffix(request, " 200") {
				t.fail("a needless or refused request: %s", request)
			}
		}
		t.note("%d requests by four commands", len(seen))
	})
}

func whatIf(t *T) {
	job := t.dir + "/job.yaml"
	t.must(os.WriteFile(job, []byte(`apiVersion: batch/v1
kind: Job
metadata: {namespace: ml, name: fit}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      priorityClassName: high
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]
`), 0o644), "job")
	t.quiet(func(config, _ string) {
		out := t.succeed("plan", "--kubeconfig", config, "-f", job, "--ask", "job/ml/fit")
		t.contains(out, "fit", "batch-")
	})
}
