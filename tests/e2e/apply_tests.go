package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func applyTests() []Test {
	return []Test{
		{Name: "apply: a plan is carried out, with exactly the rights of deploy/rbac.yaml",
			Run: applyPlan},
		{Name: "apply: a victim of the same name with a new uid survives", Run: applyReplaced},
		{Name: "apply: it refuses while a scheduler holds the Lease", Run: applyHeld,
			Night: true},
	}
}

// planFor asks for one pod and keeps the plan as a file.
func (t *T) planFor(ask string) string {
	path := filepath.Join(t.dir, "plan.json")
	text := t.succeed("plan", "--kubeconfig", t.schedulerConfig(""), "--ask", ask, "-o", "json")
	var plan struct {
		Cluster string
		Objects []struct{ Kind, Namespace, Name, UID, ResourceVersion string }
	}
	t.must(json.Unmarshal([]byte(text), &plan), "plan")
	if plan.Cluster == "" || len(plan.Objects) < 2 || plan.Objects[0].ResourceVersion == "" {
		t.fail("the plan does not say what it was made on:\n%s", text)
	}
	t.must(os.WriteFile(path, []byte(text), 0o644), "plan")
	return path
}

func (t *T) applyPlanFile(path string, flags ...string) Run {
	return t.makeway(append([]string{"apply", path, "--kubeconfig", t.schedulerConfig("")},
		flags...)...)
}

func applyPlan(t *T) {
	pool := t.pool("apply", 2, 2, 2)
	pool.ask("urgent", "high", "1", "")
	plan := t.planFor("apply/urgent")
	from := t.auditBytes()
	dry := t.applyPlanFile(plan, "--dry-run")
	if dry.Status != 0 || len(t.writes(from)) > 0 {
		t.fail("status %d, wrote %v\n%s%s", dry.Status, t.writes(from), dry.Out, dry.Err)
	}
	t.contains(dry.Out, "Would apply 1 eviction, 1 bind.")
	run := t.applyPlanFile(plan, "--yes")
	if run.Status != 0 {
		t.fail("status %d\n%s%s", run.Status, run.Out, run.Err)
	}
	t.contains(run.Out, "~ Pod apply/urgent: nominated to ", "Applied 1 of 1 ask.")
	if node := pool.pod("urgent").Spec.NodeName; !strings.HasPrefix(node, "apply-") {
		t.fail("urgent runs on %q", node)
	}
	pool.expectLeft("low-", 3)
	t.note("applied in %.1f s", run.Took.Seconds())
	again := t.applyPlanFile(plan, "--yes")
	t.contains(again.Out, "runs on ", "Nothing to apply.")
}

func applyReplaced(t *T) {
	pool := t.pool("replaced", 1, 2, 2)
	pool.ask("urgent", "high", "1", "")
	plan := t.planFor("replaced/urgent")
	// New pods of the same names: these were not confirmed.
	for name := range pool.pods() {
		if !strings.HasPrefix(name, "low-") {
			continue
		}
		now := int64(0)
		pods := t.plane.Client.CoreV1().Pods(pool.name)
		t.must(pods.Delete(t.ctx, name, meta.DeleteOptions{GracePeriodSeconds: &now}), "delete")
		t.until(minutes(1), name+" is gone", func() (bool, string) {
			_, exists := pool.pods()[name]
			return !exists, ""
		})
		t.apply(PodText{Namespace: pool.name, Scheduler: "makeway", CPU: "1", Name: name,
			Node: pool.node(0), Class: "low"}.String())
	}
	t.settle()
	run := t.applyPlanFile(plan, "--yes")
	if run.Status != 7 {
		t.fail("status %d\n%s%s", run.Status, run.Out, run.Err)
	}
	t.contains(run.Out, "was replaced by another pod of the same name, which stays",
		"! Pod replaced/urgent: not applied: ")
	pool.expectLeft("low-", 2)
	if node := pool.pod("urgent").Spec.NodeName; node != "" {
		t.fail("urgent runs on %q", node)
	}
	t.must(t.plane.Client.CoreV1().Pods(pool.name).Delete(t.ctx, "urgent", meta.DeleteOptions{}),
		"pod")
}

func applyHeld(t *T) {
	pool := t.pool("held", 1, 2, 2)
	scheduler := t.scheduler("makeway", "event=sight ", "--scheduler-name", "unused")
	pool.ask("urgent", "high", "1", "")
	plan := t.planFor("held/urgent")
	began := time.Now()
	run := t.applyPlanFile(plan, "--yes")
	if run.Status != 1 {
		t.fail("status %d\n%s%s", run.Status, run.Out, run.Err)
	}
	t.contains(run.Err, "Lease kube-system/makeway is held by ", "stop it first")
	t.note("refused after %.0f s", seconds(began))
	pool.expectLeft("low-", 2)
	scheduler.end(t)
	run = t.applyPlanFile(plan, "--yes")
	if run.Status != 0 {
		t.fail("status %d\n%s%s", run.Status, run.Out, run.Err)
	}
	pool.expectLeft("low-", 1)
}
