package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	random "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/command"
	"github.com/krigo-gp/krigo/serve"
	"github.com/krigo-gp/krigo/watch"
)

func init() {
	campaigns = append(campaigns, campaign{"live",
		"a server with TLS, a token and a ledger, whose model is replaced and whose ledger is rotated under load, until " +
			"SIGTERM", attackLive})
}

// token is what clients of a live server have to bear.
const token = "a-token-of-the-campaign"

// fleet is what all tries of the campaign share.
type fleet struct {
	*run
	models    [2]*krigo.Model
	files     [2][]byte // the models' files
	paths     [2]string
	cert, key string // paths of the server's certificate and its key
	trusted   *x509.CertPool
}

// attackLive starts a server a try, asks it, replaces its model by good and damaged files, rotates its ledger, and sends
// SIGTERM. A try fails if a request gets a wrong answer, or half of one, if an outcome is lost or counted twice, if a
// damaged model replaces a good one, or if the server doesn't end as it should.
func attackLive(r *run) error {
	f := &fleet{run: r}
	for k := range f.models {
		m, err := krigo.Fit(r.ctx, data.Snelson(),
			krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 20},
				Run: krigo.Run{Restarts: 1, Seed: uint64(k)}, Promise: krigo.Promise{Epsilon: 1}})
		if err != nil {
			return err
		}
		f.paths[k] = filepath.Join(r.folder, fmt.Sprintf("%d.krigo", k))
		if err := m.Save(f.paths[k]); err != nil {
			return err
		}
		if f.models[k], err = krigo.Load(f.paths[k]); err != nil {
			return err
		}
		if f.files[k], err = os.ReadFile(f.paths[k]); err != nil {
			return err
		}
	}
	if err := f.certify(); err != nil {
		return err
	}
	return r.each(func(try int64, rng *random.Rand) error {
		folder := filepath.Join(r.folder, strconv.FormatInt(try, 10))
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		l := &live{fleet: f, rng: rng, folder: folder, model: filepath.Join(folder, "m.krigo"),
			ledger: filepath.Join(folder, "m.ledger"), sent: map[string]bool{}, acknowledged: map[string]bool{}}
		return l.attack()
	})
}

// certify makes the server's certificate, which its key signs.
func (f *fleet) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(100 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	signed, err := x509.ParseCertificate(raw)
	if err != nil {
		return err
	}
	f.trusted = x509.NewCertPool()
	f.trusted.AddCert(signed)
	f.cert, f.key = filepath.Join(f.folder, "cert.pem"), filepath.Join(f.folder, "key.pem")
	return errors.Join(
		os.WriteFile(f.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600),
		os.WriteFile(f.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}

// live is one server, and what its clients know of it.
type live struct {
	*fleet
	rng                   *random.Rand // for one goroutine
	folder, model, ledger string
	address               string
	client                *http.Client
	stopping              atomic.Bool // SIGTERM is on its way, and requests may find no server

	mu                 sync.Mutex
	sent, acknowledged map[string]bool // outcomes, by key
	wrong              error           // what was wrong first
}

// tell remembers what is wrong.
func (l *live) tell(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong == nil {
		l.wrong = err
	}
}

func (l *live) told() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

func (l *live) attack() error {
	secret := filepath.Join(l.folder, "token")
	if err := errors.Join(os.WriteFile(secret, []byte(token+"\n"), 0o600), l.put(l.files[0])); err != nil {
		return err
	}
	cmd, said := child([]string{"serve", l.model, "--listen", "127.0.0.1:0", "--token-file", secret, "--tls-cert", l.cert,
		"--tls-key", l.key, "--ledger", l.ledger, "--reload", "5ms", "--timeout", "20s"})
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer cmd.Process.Kill()
	line, _ := bufio.NewReader(out).ReadString('\n')
	found := regexp.MustCompile(`https://(\S+)/`).FindStringSubmatch(line)
	if found == nil {
		cmd.Process.Kill()
		cmd.Wait()
		return fmt.Errorf("the server doesn't start: %s %s", line, said)
	}
	l.address = found[1]
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.trusted}, MaxIdleConnsPerHost: 10}
	l.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	defer transport.CloseIdleConnections()
	ctx, stop := context.WithCancel(l.ctx)
	defer stop()
	var load, files, rotations sync.WaitGroup
	for k, do := range []func(*random.Rand) error{l.predict, l.predict, l.observe, l.observe, l.intrude, l.misspeak} {
		seed := l.rng.Uint64()
		load.Go(func() {
			for rng := random.New(random.NewPCG(seed, uint64(k))); ctx.Err() == nil; time.Sleep(time.Millisecond) {
				if err := do(rng); err != nil && !l.stopping.Load() {
					l.tell(err)
				}
			}
		})
	}
	idle, _ := net.Dial("tcp", l.address) // a client that never says a word
	if idle != nil {
		defer idle.Close()
	}
	for range 2 {
		pause := time.Duration(l.rng.IntN(300)) * time.Millisecond
		rotations.Go(func() { l.rotate(ctx, pause) })
	}
	rotations.Go(func() { l.neighbour(ctx) })
	settled := make(chan struct{})
	seed := l.rng.Uint64()
	files.Go(func() { l.replace(settled, random.New(random.NewPCG(seed, 9))) })
	time.Sleep(time.Duration(300+l.rng.IntN(1200)) * time.Millisecond)
	close(settled)
	files.Wait()
	err = l.end(cmd)
	stop()
	load.Wait()
	rotations.Wait()
	if err := cmp.Or(l.told(), err); err != nil {
		return fmt.Errorf("%w\nthe server: %s", err, tail(said.String()))
	}
	if strings.Contains(said.String(), "stack=") || !strings.Contains(said.String(), "shutting down") {
		return fmt.Errorf("the server: %s", said)
	}
	return errors.Join(l.count(), temporaries(l.folder))
}

// tail returns the end of a log.
func tail(text string) string { return text[max(0, len(text)-4000):] }

// put replaces the model file as a whole.
func (l *live) put(raw []byte) error {
	next := l.model + ".next"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(next, l.model)
}

// replace replaces the model file by good and damaged files until settled is closed. At last it shows that a good file
// is served, and stays when a damaged one takes its place.
func (l *live) replace(settled chan struct{}, rng *random.Rand) {
	for {
		select {
		case <-settled:
			l.tell(l.settle(rng))
			return
		case <-time.After(time.Duration(rng.IntN(20)) * time.Millisecond):
		}
		good := l.files[rng.IntN(2)]
		var err error
		switch rng.IntN(5) {
		case 0:
			err = os.WriteFile(l.model, good[:rng.IntN(len(good))], 0o600) // written in place, and not to the end
		case 1:
			err = os.Remove(l.model)
		case 2:
			err = l.put(l.damaged(rng))
		default:
			err = l.put(good)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			l.tell(err)
			return
		}
	}
}

// damaged returns a model file that isn't whole.
func (l *live) damaged(rng *random.Rand) []byte {
	raw := bytes.Clone(l.files[rng.IntN(2)])
	switch rng.IntN(3) {
	case 0:
		return raw[:rng.IntN(len(raw))]
	case 1:
		return nil
	}
	raw[rng.IntN(len(raw))] ^= 1 << rng.IntN(8)
	return raw
}

// settle shows that a good file is served soon, and still after the server has found a damaged file in its place.
func (l *live) settle(rng *random.Rand) error {
	k := rng.IntN(2)
	if err := l.put(l.files[k]); err != nil {
		return err
	}
	if err := l.until("a good file isn't served", func() bool { return l.serves(rng) == k }); err != nil {
		return err
	}
	before := l.damages()
	if err := l.put(l.damaged(rng)); err != nil {
		return err
	}
	err := l.until("a damaged file isn't seen", func() bool { return l.damages() != before })
	if now := l.serves(rng); err == nil && now != k {
		err = fmt.Errorf("after a damaged file the server serves model %d, not %d", now, k)
	}
	l.run.count("damaged files that replaced nothing")
	return err
}

func (l *live) until(what string, met func() bool) error {
	for end := time.Now().Add(20 * time.Second); !met(); time.Sleep(2 * time.Millisecond) {
		if told := l.told(); told != nil {
			return told
		}
		if time.Now().After(end) {
			return errors.New(what)
		}
	}
	return nil
}

// damages returns the server's count of files that it couldn't read.
func (l *live) damages() string {
	status, raw, _ := l.ask("GET", "/metrics", "Bearer "+token, "", nil)
	return strconv.Itoa(status) + regexp.MustCompile(`krigo_model_files_total\{result="failed"\} .*`).FindString(string(raw))
}

// serves returns which model the server predicts from, or -1.
func (l *live) serves(rng *random.Rand) int {
	k, err := l.predicted(1, rng)
	if err != nil {
		l.tell(err)
	}
	return k
}

// ask sends a request and returns the answer. An answer that begins has to end.
func (l *live) ask(method, path, authority, key string, body any) (status int, raw []byte, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequest(method, "https://"+l.address+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", authority)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	raw, err = io.ReadAll(answer.Body)
	if err != nil {
		l.tell(fmt.Errorf("%s: status %d, and half an answer: %w", path, answer.StatusCode, err))
	}
	l.run.count(fmt.Sprintf("status %d", answer.StatusCode))
	return answer.StatusCode, raw, err
}

// predict asks for rows, and shows that one model predicted them all.
func (l *live) predict(rng *random.Rand) error {
	_, err := l.predicted([]int{1, 1, 30, 300}[rng.IntN(4)], rng)
	return err
}

// predicted asks for rows, and returns which model predicted them.
func (l *live) predicted(rows int, rng *random.Rand) (model int, err error) {
	table := &dataset.Table{Source: "x", Names: l.models[0].Inputs, Rows: rows}
	all := make([][]float64, rows)
	for i := range all {
		all[i] = []float64{6 * rng.Float64()}
		table.Values = append(table.Values, all[i]...)
	}
	status, raw, err := l.ask("POST", "/v1/predict", "Bearer "+token, "", map[string]any{"rows": all})
	if err != nil || status == 503 {
		return -1, err
	}
	return l.compare(table, status, raw)
}

// compare returns which model has the predictions that an answer has.
func (l *live) compare(table *dataset.Table, status int, raw []byte) (model int, err error) {
	var answer serve.Answer
	if err := json.Unmarshal(raw, &answer); err != nil || status != 200 || len(answer.Predictions) != table.Rows {
		return -1, fmt.Errorf("predictions: status %d, %v: %.500s", status, err, raw)
	}
	for k, m := range l.models {
		want, err := m.Predict(context.Background(), table, krigo.PredictOptions{})
		if err != nil {
			return -1, err
		}
		same := 0
		for same < table.Rows && want[same].Mean == answer.Predictions[same].Mean &&
			want[same].PredictiveVariance == answer.Predictions[same].PredictiveVariance {
			same++
		}
		if same == table.Rows {
			return k, nil
		}
	}
	return -1, fmt.Errorf("%d predictions are of neither model: %.500s", table.Rows, raw)
}

// observe sends outcomes under a key of their own, some twice at once.
func (l *live) observe(rng *random.Rand) error {
	key, rows := l.outcomes(rng)
	var both sync.WaitGroup
	var wrong [2]error
	for k := range 1 + rng.IntN(5)/4 {
		both.Go(func() {
			status, raw, err := l.ask("POST", "/v1/outcomes", "Bearer "+token, key, map[string]any{"rows": rows})
			wrong[k] = err
			if err == nil && status != 503 {
				wrong[k] = l.acknowledge(key, status, raw)
			}
		})
	}
	both.Wait()
	return errors.Join(wrong[:]...)
}

// outcomes returns rows that no other client has, with their key.
func (l *live) outcomes(rng *random.Rand) (key string, rows [][]float64) {
	rows = make([][]float64, 1+rng.IntN(3))
	for i := range rows {
		x := 6 * rng.Float64()
		rows[i] = []float64{x, rng.NormFloat64()}
	}
	key = fmt.Sprintf("%d-%x", len(rows), rng.Uint64())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[key] = true
	return key, rows
}

// acknowledge notes that the server has taken outcomes.
func (l *live) acknowledge(key string, status int, raw []byte) error {
	var o serve.Observed
	if err := json.Unmarshal(raw, &o); err != nil || status != 200 || !o.Known && fmt.Sprint(o.Rows) != key[:1] {
		return fmt.Errorf("outcomes: status %d, %v: %.500s", status, err, raw)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[key] = true
	return nil
}

// intrude asks without the token, which has to be refused.
func (l *live) intrude(rng *random.Rand) error {
	authority := []string{"", "Bearer", "Bearer ", "Bearer " + token[1:], "Bearer " + token + "x", "Basic " + token, token,
		"Bearer " + token + "\t" + token, "Bearer " + strings.ToUpper(token)}[rng.IntN(9)]
	method, path := "POST", []string{"/v1/predict", "/v1/outcomes", "/v1/joint?samples=1"}[rng.IntN(3)]
	if rng.IntN(3) == 0 {
		method, path = "GET", []string{"/v1/model", "/v1/models", "/metrics"}[rng.IntN(3)]
	}
	status, raw, err := l.ask(method, path, authority, "an intruder's", map[string]any{"rows": [][]float64{{1, 1}}})
	if err == nil && (status != 401 || len(raw) > 200) {
		return fmt.Errorf("%s %s with %q: status %d: %.500s", method, path, authority, status, raw)
	}
	return err
}

// misspeak asks without TLS, or with a TLS that the server doesn't take. No such client learns anything.
func (l *live) misspeak(rng *random.Rand) error {
	if rng.IntN(2) == 0 {
		old := &tls.Config{RootCAs: l.trusted, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
		conn, err := tls.Dial("tcp", l.address, old)
		if err == nil {
			conn.Close()
			return errors.New("the server speaks TLS 1.1")
		}
		return nil
	}
	answer, err := http.Get("http://" + l.address + "/v1/model")
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != 400 {
		return fmt.Errorf("without TLS: status %d", answer.StatusCode)
	}
	return nil
}

// rotate asks for rotations, as another process does, until ctx ends.
func (l *live) rotate(ctx context.Context, pause time.Duration) {
	for ; ctx.Err() == nil; time.Sleep(pause) {
		var said bytes.Buffer
		status := command.Run(ctx, []string{"watch", l.paths[0], "--ledger", l.ledger, "--rotate", "--quiet"},
			strings.NewReader(""), io.Discard, &said)
		if status != 0 && status != 3 && !l.stopping.Load() && ctx.Err() == nil {
			l.tell(fmt.Errorf("watch --rotate: status %d: %s", status, &said))
			return
		}
		l.run.count("rotations asked for")
	}
}

// neighbour tries to write the ledger, as another process does by mistake. The server holds it all the time.
func (l *live) neighbour(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		other, err := watch.Open(l.ledger)
		if err != nil {
			continue
		}
		_, err = other.Rotate()
		other.Close()
		if err == nil && !l.stopping.Load() {
			l.tell(errors.New("another process could write the server's ledger"))
		}
	}
}

// end sends SIGTERM while requests are under way. Those that the server has accepted have to be answered.
func (l *live) end(cmd *exec.Cmd) error {
	row := [][]float64{{3}}
	key, rows := l.outcomes(l.rng)
	predicting, err := l.accepted("/v1/predict", "", map[string]any{"rows": row})
	if err != nil {
		return err
	}
	observing, err := l.accepted("/v1/outcomes", key, map[string]any{"rows": rows})
	if err != nil {
		return err
	}
	l.stopping.Store(true)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	gone := func() bool {
		conn, err := net.Dial("tcp", l.address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	}
	if err := l.until("the server still accepts connections", gone); err != nil {
		return err
	}
	status, raw, err := predicting()
	if err == nil {
		_, err = l.compare(&dataset.Table{Source: "x", Names: l.models[0].Inputs, Rows: 1, Values: row[0]}, status, raw)
	}
	if err != nil {
		return fmt.Errorf("a prediction that was accepted before SIGTERM: %w", err)
	}
	status, raw, err = observing()
	if err == nil {
		err = l.acknowledge(key, status, raw)
	}
	if err != nil {
		return fmt.Errorf("outcomes that were accepted before SIGTERM: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("after SIGTERM: %w", err)
	}
	return nil
}

// accepted sends the head of a request, and waits until the server reads its body. answer sends the body.
func (l *live) accepted(path, key string, body any) (answer func() (status int, raw []byte, err error), err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	conn, err := tls.Dial("tcp", l.address, &tls.Config{RootCAs: l.trusted})
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"+
		"Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", path, l.address, token, key,
		len(text))
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		conn.Close()
		return nil, fmt.Errorf("a request that asks whether to go on: %q, %w", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		return nil, err
	}
	return func() (int, []byte, error) {
		defer conn.Close()
		conn.Write(text)
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return 0, nil, err
		}
		raw, err := io.ReadAll(answer.Body)
		return answer.StatusCode, raw, err
	}, nil
}

// count shows that the ledger and its archives have each acknowledged outcome once, and no other client's.
func (l *live) count() error {
	if fileExists(l.ledger + ".rotate") {
		return errors.New("a request to rotate is left")
	}
	paths, err := filepath.Glob(l.ledger + "*")
	if err != nil {
		return err
	}
	type entry struct {
		Model, Key string
		At         string
		Losses     []float64
	}
	found := map[[2]string]entry{} // by model and key
	known := map[string]bool{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
			var e entry
			if err := d.Decode(&e); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if e.Losses == nil { // what a rotation carried over
				continue
			}
			at := [2]string{e.Model, e.Key}
			// A rotation copies the lines of models that nobody watches.
			if twice, is := found[at]; is && twice.At != e.At || !l.sent[e.Key] || fmt.Sprint(len(e.Losses)) != e.Key[:1] {
				return fmt.Errorf("%s: an outcome that nobody sent, or one that is counted twice: %+v", path, e)
			}
			found[at] = e
			known[e.Key] = true
		}
	}
	for key := range l.acknowledged {
		if !known[key] {
			return fmt.Errorf("the outcome %s was acknowledged, and is lost", key)
		}
	}
	for k, m := range l.models {
		rows, misses := 0, 0.
		for at, e := range found {
			if at[0] == m.Checksum() {
				rows += len(e.Losses)
				for _, loss := range e.Losses {
					misses += loss
				}
			}
		}
		state, err := ledgerState(l.paths[k], l.ledger)
		if err != nil || state.Rows != rows || state.Misses != misses {
			return fmt.Errorf("model %d: the ledger and its archives have %d outcomes and %v misses, but the state is %+v, %v", k,
				rows, misses, state, err)
		}
	}
	l.run.count("ledgers with all outcomes")
	return nil
}
