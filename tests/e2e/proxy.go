package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Wire is a TCP proxy to the API server that can be cut, closed and slowed down.
type Wire struct {
	URL      string
	target   string
	listener net.Listener
	closed   atomic.Bool
	stuck    atomic.Bool  // Nothing comes through, without an error.
	delay    atomic.Int64 // Nanoseconds before each piece of at most 16 KB.
	made     atomic.Int64
	moved    atomic.Int64 // When bytes last came through: nanoseconds since 1970.

	mutex sync.Mutex
	open  map[net.Conn]bool
}

func (t *T) wire() *Wire {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	t.must(err, "proxy")
	wire := &Wire{URL: "https://" + listener.Addr().String(), listener: listener,
		target: strings.TrimPrefix(t.plane.Server, "https://"), open: map[net.Conn]bool{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go wire.serve(client)
		}
	}()
	return wire
}

func (w *Wire) serve(client net.Conn) {
	defer client.Close()
	if w.closed.Load() {
		return
	}
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		return
	}
	defer server.Close()
	w.made.Add(1)
	w.keep(true, client, server)
	defer w.keep(false, client, server)
	done := make(chan struct{}, 2)
	go func() { w.copy(server, client); done <- struct{}{} }()
	go func() { w.copy(client, server); done <- struct{}{} }()
	<-done
}

func (w *Wire) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 16<<10)
	for {
		size, err := from.Read(buffer)
		w.moved.Store(time.Now().UnixNano())
		time.Sleep(time.Duration(w.delay.Load()))
		for w.stuck.Load() && !w.closed.Load() {
			time.Sleep(20 * time.Millisecond)
		}
		if _, bad := to.Write(buffer[:size]); bad != nil || err != nil {
			return
		}
	}
}

func (w *Wire) keep(is bool, connections ...net.Conn) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, connection := range connections {
		if is {
			w.open[connection] = true
		} else {
			delete(w.open, connection)
		}
	}
}

// opened is how many connections there are.
func (w *Wire) opened() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.open) / 2
}

// cut ends all connections without a word, as a cable does.
func (w *Wire) cut() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for connection := range w.open {
		connection.(*net.TCPConn).SetLinger(0)
		connection.Close()
	}
	clear(w.open)
}

func (w *Wire) stop() {
	w.closed.Store(true)
	w.listener.Close()
	w.cut()
}

// Front terminates TLS before the API server and counts what is asked, and how.
type Front struct {
	URL    string
	server *http.Server
	mutex  sync.Mutex
	seen   map[string]int // "HTTP/2.0 GET"
}

// forwarder passes requests on to the API server, watches too.
func (t *T) forwarder() (*httputil.ReverseProxy, http.RoundTripper) {
	target, err := url.Parse(t.plane.Server)
	t.must(err, "server")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(t.plane.authority.PEM)
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1
	forward.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true}
	forward.ErrorLog = log.New(io.Discard, "", 0) // A killed process leaves open requests.
	return forward, forward.Transport
}

// serve answers HTTP/2 over TLS on a free port, with a certificate of the plane's authority.
func (t *T) serve(handler http.Handler,
	connected func(net.Conn, http.ConnState)) (*http.Server, string) {
	pair, err := t.plane.authority.sign(x509.ExtKeyUsageServerAuth, "front")
	t.must(err, "certificate")
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	t.must(err, "certificate")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	t.must(err, "front")
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: connected, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	go server.ServeTLS(listener, "", "")
	return server, "https://" + listener.Addr().String()
}

func (t *T) front() *Front {
	forward, _ := t.forwarder()
	front := &Front{seen: map[string]int{}}
	handler := func(writer http.ResponseWriter, request *http.Request) {
		front.mutex.Lock()
		front.seen[request.Proto+" "+request.Method]++
		front.mutex.Unlock()
		forward.ServeHTTP(writer, request)
	}
	front.server, front.URL = t.serve(http.HandlerFunc(handler), nil)
	return front
}

// counted are the requests so far, and fails if one was none of HTTP/2 and GET.
func (f *Front) counted(t *T) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for kind := range f.seen {
		if kind != "HTTP/2.0 GET" {
			t.fail("requests: %v", f.seen)
		}
	}
	return f.seen["HTTP/2.0 GET"]
}
