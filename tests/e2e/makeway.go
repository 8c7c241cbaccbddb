package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"sort"
	"strings"
	"syscall"
	"time"
)

// Run is what one call of makeway gave.
type Run struct {
	Out, Err    string
	Status      int
	Took        time.Duration
	MemoryBytes int64
}

// makeway runs the program with no cluster in its environment; it must end within some minutes.
func (t *T) makeway(arguments ...string) Run {
	return t.call(os.Getenv("MAKEWAY_BINARY"), nil, arguments...)
}

// plugin runs it as `kubectl makeway` does: by that name, found in PATH.
func (t *T) plugin(kubeconfig string, arguments ...string) Run {
	path := t.dir + "/kubectl-makeway"
	if _, err := os.Lstat(path); err != nil {
		t.must(os.Symlink(os.Getenv("MAKEWAY_BINARY"), path), "link")
	}
	return t.call(path, []string{"KUBECONFIG=" + kubeconfig}, arguments...)
}

func (t *T) call(program string, environment []string, arguments ...string) Run {
	ctx, cancel := context.WithTimeout(t.ctx, slowness*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(environment, "PATH="+os.Getenv("PATH"), "HOME="+t.dir, "LC_ALL=C.UTF-8")
	var out, errors_ bytes.Buffer
	command.Stdout, command.Stderr = &out, &errors_
	began := time.Now()
	err := command.Run()
	run := Run{Out: out.String(), Err: errors_.String(), Took: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.fail("makeway %s: %v", strings.Join(arguments, " "), err)
	}
	run.Status = command.ProcessState.ExitCode()
	run.MemoryBytes = command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
	if run.Status < 0 {
		t.fail("makeway %s ended with %v\n%s", strings.Join(arguments, " "),
			command.ProcessState, run.Err)
	}
	return run
}

// plan, snapshot, ... that must succeed; returns what it printed.
func (t *T) succeed(arguments ...string) string {
	run := t.makeway(arguments...)
	if run.Status != 0 {
		t.fail("makeway %s: exit status %d\n%s", strings.Join(arguments, " "), run.Status, run.Err)
	}
	return run.Out
}

// equal fails with the first line that differs.
func (t *T) equal(what, wanted, got string) {
	if wanted == got {
		return
	}
	expected, found := strings.Split(wanted, "\n"), strings.Split(got, "\n")
	for i := range max(len(expected), len(found)) {
		left, right := lineAt(expected, i), lineAt(found, i)
		if left != right {
			t.fail("%s: line %d differs\nexpected %s\n     got %s", what, i+1, left, right)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(no such line)"
	}
	if len(lines[i]) > 2000 {
		return lines[i][:2000] + "..."
	}
	return lines[i]
}

func (t *T) contains(text string, parts ...string) {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.fail("expected %q in:\n%s", part, text)
		}
	}
}

// sorted by lines.
func sorted(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
