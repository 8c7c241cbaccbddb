package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

// Write is a request that changes something: "POST pods/binding shop/web".
type Write struct {
	Method, Resource, Namespace, Name string
	Number                            int // Of those that count, from 1 on.
}

func (w Write) String() string {
	return fmt.Sprintf("%s %s %s/%s", w.Method, w.Resource, w.Namespace, w.Name)
}

// is compares with "DELETE pods" and the like.
func (w Write) is(what string) bool { return w.Method+" "+w.Resource == what }

// Fault is what happens to a write on its way; nothing: it goes through.
type Fault struct {
	Hold         <-chan struct{} // The server does not see it before that is closed.
	Lost         bool            // The server never sees it, and there is no answer.
	AnswerIsLost bool            // The server sees it, and its answer is lost.
	Answer       *Answer         // Given instead of the server's.
	IsDone       bool            // With an Answer: the server saw it all the same.
	Afterwards   func()          // When the server has answered, and before the answer is passed on.
}

// Answer is one that the API server could give.
type Answer struct {
	Code         int
	Kind, Body   string
	RetrySeconds int
}

// overload is what priority and fairness answers: plain text, no Status.
func overload() *Answer {
	return &Answer{Code: 429, Kind: "text/plain; charset=utf-8", RetrySeconds: 1,
		Body: "Too many requests, please try again later.\n"}
}

// tooLate is what a server answers whose deadline is over; it may go on nevertheless.
func tooLate() *Answer {
	return &Answer{Code: 504, Kind: "application/json", Body: `{"kind":"Status","apiVersion":"v1",` +
		`"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the ` +
		`allotted timeout","reason":"Timeout","details":{},"code":504}`}
}

// Passed is a write and what the server said to it; 0: it has not seen it, or not answered yet.
type Passed struct {
	Write
	Code int
}

// Faulty stands before the API server, speaks HTTP/2 with makeway, and treats its writes badly.
// A write that was let go reaches the server even if its client does not wait for the answer.
type Faulty struct {
	URL       string
	ctx       context.Context
	target    string
	transport http.RoundTripper
	forward   *httputil.ReverseProxy
	server    *http.Server
	skew      func() time.Duration // Added to the server's Date.

	mutex   sync.Mutex
	rule    func(Write) Fault
	passed  []*Passed
	counted int
	open    map[net.Conn]bool
}

func (t *T) faulty() *Faulty {
	forward, transport := t.forwarder()
	faulty := &Faulty{ctx: t.ctx, target: t.plane.Server, transport: transport, forward: forward,
		open: map[net.Conn]bool{}}
	forward.ModifyResponse = func(response *http.Response) error {
		faulty.bend(response.Header)
		return nil
	}
	faulty.server, faulty.URL = t.serve(http.HandlerFunc(faulty.handle), faulty.connected)
	return faulty
}

func (f *Faulty) stop() { f.server.Close() }

// cut ends all connections of makeway; the watches too.
func (f *Faulty) cut() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for connection := range f.open {
		connection.Close()
	}
}

func (f *Faulty) connected(connection net.Conn, state http.ConnState) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch state {
	case http.StateNew:
		f.open[connection] = true
	case http.StateClosed, http.StateHijacked:
		delete(f.open, connection)
	}
}

// obey says what becomes of the writes from now on, which are counted from 1.
func (f *Faulty) obey(rule func(Write) Fault) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.rule, f.counted = rule, 0
}

// writes that came in so far, in order, with what became of them.
func (f *Faulty) writes(what string) []Passed {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var found []Passed
	for _, each := range f.passed {
		if each.is(what) {
			found = append(found, *each)
		}
	}
	return found
}

// removals are the writes that evict a pod, with or without budgets.
func (f *Faulty) removals() []Passed {
	return append(f.writes("DELETE pods"), f.writes("POST pods/eviction")...)
}

// deleted are the pods of that prefix whose DELETE the server has carried out.
func (f *Faulty) deleted(prefix string) int {
	count := 0
	for _, each := range f.writes("DELETE pods") {
		if each.Code == 200 && strings.HasPrefix(each.Name, prefix) {
			count++
		}
	}
	return count
}

// all are the writes that count.
func (f *Faulty) all() []Passed {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var found []Passed
	for _, each := range f.passed {
		if each.counts() {
			found = append(found, *each)
		}
	}
	return found
}

// counts: of what makeway places, scales or remembers; neither the Lease nor events nor questions
// about rights.
func (w Write) counts() bool {
	for _, kind := range []string{"pods", "podgroups", "persistentvolumeclaims", "queues", "sessions",
		"replicaschedules", "deployments"} {
		if strings.HasPrefix(w.Resource, kind) {
			return true
		}
	}
	return false
}

// writeOf reads .../namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]], and of kinds of ours that
// have no namespace .../v1/RESOURCE/NAME/SUBRESOURCE.
func writeOf(request *http.Request) Write {
	write := Write{Method: request.Method}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	for i, part := range parts {
		if part != "namespaces" || i+2 >= len(parts) {
			continue
		}
		write.Namespace, write.Resource = parts[i+1], parts[i+2]
		if i+3 < len(parts) {
			write.Name = parts[i+3]
		}
		if i+4 < len(parts) {
			write.Resource += "/" + parts[i+4]
		}
		return write
	}
	write.Resource = parts[len(parts)-1]
	if len(parts) == 6 && parts[1] == "makeway.dev" {
		write.Resource, write.Name = parts[3]+"/"+parts[5], parts[4]
	}
	return write
}

func (f *Faulty) note(request *http.Request) (*Passed, Fault) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	passed := &Passed{Write: writeOf(request)}
	if passed.counts() {
		f.counted++
		passed.Number = f.counted
	}
	f.passed = append(f.passed, passed)
	if f.rule == nil || passed.Resource == "leases" {
		return passed, Fault{}
	}
	return passed, f.rule(passed.Write)
}

func (f *Faulty) bend(header http.Header) {
	if f.skew == nil {
		return
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		header.Set("Date", date.Add(f.skew()).UTC().Format(http.TimeFormat))
	}
}

func (f *Faulty) handle(writer http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		f.forward.ServeHTTP(writer, request)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	passed, fault := f.note(request)
	if fault.Hold != nil {
		select {
		case <-fault.Hold:
		case <-f.ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
	var answer *http.Response
	var text []byte
	if !fault.Lost && (fault.Answer == nil || fault.IsDone) {
		if answer, text, err = f.send(request, body); err == nil {
			f.mutex.Lock()
			passed.Code = answer.StatusCode
			f.mutex.Unlock()
		}
	}
	if fault.Afterwards != nil {
		fault.Afterwards()
	}
	switch {
	case fault.Answer != nil:
		fault.Answer.give(writer)
	case answer == nil || fault.AnswerIsLost:
		panic(http.ErrAbortHandler) // The stream is reset.
	default:
		for name, values := range answer.Header {
			writer.Header()[name] = values
		}
		f.bend(writer.Header())
		writer.WriteHeader(answer.StatusCode)
		writer.Write(text)
	}
}

// send gives it to the server, even if the client has gone meanwhile.
func (f *Faulty) send(request *http.Request, body []byte) (*http.Response, []byte, error) {
	onward, err := http.NewRequestWithContext(f.ctx, request.Method,
		f.target+request.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	onward.Header = request.Header.Clone()
	answer, err := f.transport.RoundTrip(onward)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, text, err
}

func (a *Answer) give(writer http.ResponseWriter) {
	writer.Header().Set("Content-Type", a.Kind)
	if a.RetrySeconds > 0 {
		writer.Header().Set("Retry-After", fmt.Sprint(a.RetrySeconds))
	}
	writer.WriteHeader(a.Code)
	io.WriteString(writer, a.Body)
}

// Held keeps writes of one kind until they are let go.
type Held struct {
	gate chan struct{}
	once sync.Once
}

func newHeld() *Held { return &Held{gate: make(chan struct{})} }

func (h *Held) release() { h.once.Do(func() { close(h.gate) }) }

// awaits that many writes of that kind at the proxy, and returns them.
func (f *Faulty) await(t *T, what string, count int, scheduler *Scheduler) []Passed {
	var found []Passed
	t.until(minutes(1), fmt.Sprintf("%d times %s", count, what), func() (bool, string) {
		found = f.writes(what)
		return len(found) >= count, fmt.Sprintf("%v\n%s", f.all(), scheduler.text())
	})
	return found
}

// rests waits until makeway has sent nothing for half a second.
func (f *Faulty) rests(t *T) {
	seen, since := -1, time.Now()
	t.until(minutes(1), "nothing is sent", func() (bool, string) {
		if count := len(f.all()); count != seen {
			seen, since = count, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond, fmt.Sprint(f.all())
	})
}

// settled waits until the server has answered all writes of that kind, and returns them.
func (f *Faulty) settled(t *T, what string) []Passed {
	var found []Passed
	t.until(minutes(1), "the server answers every "+what, func() (bool, string) {
		found = f.writes(what)
		for _, each := range found {
			if each.Code == 0 {
				return false, each.String()
			}
		}
		return true, ""
	})
	return found
}
