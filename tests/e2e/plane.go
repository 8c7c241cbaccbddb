package main

import (
	"context"
	"crypto/x509"
	_ "embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Stages of kwok: nodes become ready, pods run at once, those of Jobs stay, deleted ones go.
//
//go:embed stages.yaml
var stages []byte

const auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy",` +
	`"omitStages":["RequestReceived"],"rules":[{"level":"Metadata"}]}`

const adminToken = "e2e-admin"

// Plane is a control plane on loopback ports: etcd, kube-apiserver, kube-controller-manager and
// kwok; kube-scheduler only when a test starts it.
type Plane struct {
	Version string
	Server  string // "https://127.0.0.1:6443"
	Admin   *rest.Config
	Client  *kubernetes.Clientset
	Dynamic dynamic.Interface

	binaries, dir, etcdURL, adminConfig string
	authority                           *Authority
	apiserverArguments                  []string
	etcd, apiserver, controllers, kwok  *Process
	all                                 []*Process
	readerToken, halfToken              string
	schedulerToken                      string
	schedulers                          []*Process // Those that tests started.
	seeded, callerMade                  bool
	churns                              int // Each has pods of its own.
}

// StartPlane returns a plane also with an error, so that what runs can be stopped.
func StartPlane(ctx context.Context, binaries, dir string) (*Plane, error) {
	plane := &Plane{binaries: binaries, dir: dir}
	var err error
	if plane.authority, err = newAuthority(); err != nil {
		return plane, err
	}
	if err := plane.writeFiles(); err != nil {
		return plane, err
	}
	if err := plane.startStore(); err != nil {
		return plane, err
	}
	if err := plane.startServer(ctx); err != nil {
		return plane, err
	}
	version, err := plane.Client.Discovery().ServerVersion()
	if err != nil {
		return plane, err
	}
	plane.Version = version.GitVersion
	return plane, plane.startControllers()
}

func (p *Plane) file(name string) string { return filepath.Join(p.dir, name) }

func (p *Plane) writeFiles() error {
	serving, err := p.authority.sign(x509.ExtKeyUsageServerAuth, "kube-apiserver")
	if err != nil {
		return err
	}
	accounts, err := p.authority.sign(x509.ExtKeyUsageClientAuth, "service-accounts")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.crt": p.authority.PEM, "server.crt": serving.Certificate, "server.key": serving.Key,
		"accounts.key": accounts.Key, "stages.yaml": stages, "audit-policy.json": []byte(auditPolicy),
		"tokens.csv": []byte(adminToken + `,admin,admin,"system:masters"` + "\n"),
	}
	for name, text := range files {
		if err := os.WriteFile(p.file(name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// freePorts are all different: they are held until the last one is known.
func freePorts(count int) ([]int, error) {
	ports := make([]int, count)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func (p *Plane) run(program string, arguments ...string) (*Process, error) {
	process, err := startProcess(p.dir, filepath.Join(p.binaries, program), arguments...)
	if err == nil {
		p.all = append(p.all, process)
	}
	return process, err
}

func (p *Plane) startStore() error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	p.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peers := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	p.etcd, err = p.run("etcd", "--data-dir", p.file("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", p.etcdURL, "--advertise-client-urls", p.etcdURL,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
		"--initial-cluster", "default="+peers)
	if err != nil {
		return err
	}
	p.serveAt(ports[2])
	return nil
}

// serveAt is how its API server will be started.
func (p *Plane) serveAt(port int, more ...string) {
	p.Server = fmt.Sprintf("https://127.0.0.1:%d", port)
	p.apiserverArguments = append([]string{
		"--etcd-servers", p.etcdURL, "--secure-port", fmt.Sprint(port),
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--tls-cert-file", p.file("server.crt"), "--tls-private-key-file", p.file("server.key"),
		"--client-ca-file", p.file("ca.crt"), "--token-auth-file", p.file("tokens.csv"),
		"--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", p.file("accounts.key"),
		"--service-account-signing-key-file", p.file("accounts.key"),
		"--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type", "none",
		"--disable-admission-plugins", "ServiceAccount",
		"--feature-gates", "GenericWorkload=true",
		"--runtime-config", "scheduling.k8s.io/v1beta1=true",
		"--audit-policy-file", p.file("audit-policy.json"), "--audit-log-path", p.file("audit.log"),
		// Calls are counted by where the log was: it must not begin anew after 100 MB.
		"--audit-log-maxsize", "100000",
	}, more...)
}

// startServer also starts it again; it has the same port and data then.
func (p *Plane) startServer(ctx context.Context) error {
	p.Admin = &rest.Config{Host: p.Server, BearerToken: adminToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: p.authority.PEM}}
	var err error
	if p.Client, err = kubernetes.NewForConfig(p.Admin); err != nil {
		return err
	}
	if p.Dynamic, err = dynamic.NewForConfig(p.Admin); err != nil {
		return err
	}
	deadline := time.Now().Add(slowness * 2 * time.Minute)
	for starts := 0; ; {
		if p.apiserver == nil || !p.apiserver.running() {
			// Until it listens, its port may belong to another process for a moment.
			if starts++; starts > 3 || !p.etcd.running() {
				return fmt.Errorf("kube-apiserver or etcd ended at once")
			}
			if p.apiserver, err = p.run("kube-apiserver", p.apiserverArguments...); err != nil {
				return err
			}
		}
		body, err := p.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		switch {
		case err == nil && string(body) == "ok":
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("kube-apiserver is not ready after some minutes: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (p *Plane) startControllers() error {
	p.adminConfig = p.file("admin.kubeconfig")
	if err := p.writeKubeconfig(p.adminConfig, Login{Token: adminToken}); err != nil {
		return err
	}
	var err error
	if p.controllers, err = p.run("kube-controller-manager", "--kubeconfig", p.adminConfig,
		"--leader-elect=false", "--secure-port", "0", "--feature-gates", "GenericWorkload=true",
		"--kube-api-qps", "500", "--kube-api-burst", "1000", // Else 9 new nodes a second are ready.
		"--service-account-private-key-file", p.file("accounts.key")); err != nil {
		return err
	}
	p.kwok, err = p.run("kwok", "--kubeconfig", p.adminConfig, "--manage-all-nodes",
		"--node-lease-duration-seconds", "40", "--config", p.file("stages.yaml"))
	return err
}

func (p *Plane) startScheduler(more ...string) (*Process, error) {
	return p.run("kube-scheduler", append([]string{"--kubeconfig", p.adminConfig,
		"--authentication-kubeconfig", p.adminConfig, "--authorization-kubeconfig", p.adminConfig,
		"--leader-elect=false", "--secure-port", "0", "--feature-gates", "GenericWorkload=true"},
		more...)...)
}

// Stop ends everything, the last that was started first.
func (p *Plane) Stop() {
	for i := len(p.all) - 1; i >= 0; i-- {
		p.all[i].stop(syscall.SIGTERM, 3*time.Second)
	}
}

// Left names what still runs.
func (p *Plane) Left() []string {
	var left []string
	for _, process := range p.all {
		if process.running() || syscall.Kill(process.cmd.Process.Pid, 0) == nil {
			left = append(left, fmt.Sprintf("%s (%d)", process.Name, process.cmd.Process.Pid))
		}
	}
	return left
}
