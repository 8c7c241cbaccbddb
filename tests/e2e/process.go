package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that we started, its log and its end.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// starts runs every start on one thread that never ends: the kernel kills a child with Pdeathsig
// when the thread that started it is gone, so nothing outlives us even if we are killed.
var starts = func() chan<- func() {
	queue := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range queue {
			start()
		}
	}()
	return queue
}()

// startProcess appends what the program says to NAME.log in the folder.
func startProcess(dir, program string, arguments ...string) (*Process, error) {
	name := filepath.Base(program)
	log, err := os.OpenFile(filepath.Join(dir, name+".log"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	process := &Process{Name: name, cmd: exec.Command(program, arguments...),
		ended: make(chan struct{})}
	process.cmd.Stdout, process.cmd.Stderr = log, log
	return process, process.start()
}

// start keeps Ctrl-C of the terminal away from the child: we stop it in our order.
func (p *Process) start() error {
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	starts <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

func (p *Process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal and wait; killed when it takes longer than patience.
func (p *Process) stop(signal syscall.Signal, patience time.Duration) {
	if p == nil || !p.running() {
		return
	}
	p.cmd.Process.Signal(signal)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// cpu and memory that the program used; only after its end.
func (p *Process) used() (cpu time.Duration, memoryBytes int64) {
	usage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), usage.Maxrss * 1024
}
