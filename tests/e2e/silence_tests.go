package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Silence stands before the API server. From `begin` on it answers nothing on the connections that
// it has, but for watches, as a path does that swallows packets; new connections are served.
type Silence struct {
	server *httptest.Server
	mutex  sync.Mutex
	known  map[string]bool // Addresses of connections.
	silent map[string]bool
	held   int
}

func (t *T) silence() *Silence {
	pair, err := t.plane.authority.sign(x509.ExtKeyUsageServerAuth, "silence")
	t.must(err, "certificate")
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	t.must(err, "certificate")
	forward, _ := t.forwarder()
	silence := &Silence{known: map[string]bool{}, silent: map[string]bool{}}
	silence.server = httptest.NewUnstartedServer(http.HandlerFunc(
		func(writer http.ResponseWriter, request *http.Request) {
			if silence.swallows(request) {
				<-request.Context().Done()
				return
			}
			forward.ServeHTTP(writer, request)
		}))
	silence.server.EnableHTTP2 = true
	silence.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	silence.server.StartTLS()
	return silence
}

func (s *Silence) swallows(request *http.Request) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.known[request.RemoteAddr] = true
	swallows := s.silent[request.RemoteAddr] && !strings.Contains(request.URL.RawQuery, "watch=")
	if swallows {
		s.held++
	}
	return swallows
}

func (s *Silence) begin() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for address := range s.known {
		s.silent[address] = true
	}
}

func (s *Silence) swallowed() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.held
}

func silentConnections(t *T) {
	pool := t.pool("silence", 1, 4, 0)
	silence := t.silence()
	defer silence.server.CloseClientConnections()
	if t.plane.schedulerToken == "" {
		t.plane.schedulerToken = t.grant("makeway", func(text string) string { return text })
	}
	path := t.dir + "/silence.kubeconfig"
	t.must(t.plane.writeKubeconfig(path, Login{Token: t.plane.schedulerToken,
		Server: silence.server.URL}), "kubeconfig")
	folder := filepath.Join(t.dir, "silence")
	t.must(os.MkdirAll(folder, 0o755), "folder")
	process, err := startProcess(folder, os.Getenv("MAKEWAY_BINARY"), "run", "--kubeconfig", path)
	t.must(err, "makeway")
	t.plane.all = append(t.plane.all, process)
	t.plane.schedulers = append(t.plane.schedulers, process)
	scheduler := &Scheduler{process: process, log: filepath.Join(folder, process.Name+".log")}
	t.until(minutes(3), "makeway sees the cluster", func() (bool, string) {
		return strings.Contains(scheduler.text(), "event=sight "), scheduler.text()
	})
	pool.ask("before", "high", "1", "")
	pool.bound(scheduler, "before")
	silence.begin()
	began := time.Now()
	pool.ask("after", "high", "1", "")
	pool.bound(scheduler, "after")
	if silence.swallowed() == 0 {
		t.fail("nothing was sent on a silent connection")
	}
	// Long enough for every renewal that was swallowed to have counted.
	time.Sleep(12 * time.Second)
	pool.ask("later", "high", "1", "")
	pool.bound(scheduler, "later")
	t.note("bound again after %.1f s; %d requests were swallowed", seconds(began),
		silence.swallowed())
	scheduler.end(t)
}
