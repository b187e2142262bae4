// Package malice has malicious clients of a prediction server. Each attack is drawn from a stream of random numbers.
// The campaign "serve" tests krigo's server with these attacks, and a benchmark measures the server during these
// attacks.
package malice

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client is a malicious client. Its method Run makes an attack.
type Client struct {
	Server  string        // address and port of the server
	From    net.IP        // address of this client; nil: any
	Inputs  []string      // the model's inputs
	Target  string        // the target in outcomes; empty: the client sends no outcomes
	Patient time.Duration // the longest time that an attack waits for an answer
}

// Attack is a kind of attack, with its name.
type Attack struct {
	Name string
	run  func(a *attempt) error
}

// Attacks lists all kinds of attacks.
var Attacks = []Attack{
	{"rows that overflow", overflowing},
	{"a giant table", giant},
	{"a wide table", wide},
	{"broken JSON", broken},
	{"deep JSON", deep},
	{"many headers", headers},
	{"a slow header", slowHeader},
	{"a slow body", slowBody},
	{"a stalled body", stalled},
	{"half a request", half},
	{"another host", hosts},
	{"another site", sites},
	{"an answer not read", unread},
	{"random bytes", noise},
	{"chunks", chunks},
	{"idle connections", idle},
	{"a flood", flood},
	{"9,000 rows", long},
	{"outcomes", outcomes},
	{"rows together", together},
}

// promised holds the statuses that a server may answer an attack with. None of the statuses means that the server
// itself failed. Status 0 means no answer: the client didn't wait, or the connection was closed.
var promised = []int{0, 200, 307, 400, 403, 404, 405, 408, 409, 413, 415, 417, 421, 422, 431, 501, 503, 505}

// attempt is one attack under way. Its context ends with the attack.
type attempt struct {
	*Client
	ctx  context.Context
	rng  *rand.Rand
	seen []int // the statuses that the server answered
}

// Run makes an attack. It returns the statuses that the server answered. It returns an error if a status isn't one of
// promised, or if an answer isn't valid.
func (c *Client) Run(ctx context.Context, a Attack, rng *rand.Rand) ([]int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at := &attempt{Client: c, ctx: ctx, rng: rng}
	if err := a.run(at); err != nil && ctx.Err() == nil {
		return at.seen, fmt.Errorf("%s: %w", a.Name, err)
	}
	for _, status := range at.seen {
		if !slices.Contains(promised, status) {
			return at.seen, fmt.Errorf("%s: status %d", a.Name, status)
		}
	}
	return at.seen, nil
}

// dial connects to the server. A server that has as many connections as it takes may refuse, or hang up.
func (a *attempt) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: a.Patient}
	if a.From != nil {
		d.LocalAddr = &net.TCPAddr{IP: a.From}
	}
	conn, err := d.DialContext(a.ctx, "tcp", a.Server)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(a.Patient))
	context.AfterFunc(a.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return conn, nil
}

// ask sends a request on a new connection and reads the answer.
func (a *attempt) ask(request []byte) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		conn.Write(request) // the server may answer and hang up before it has read everything
	}()
	err = a.answer(conn)
	conn.Close()
	<-sent
	return err
}

// answer reads an answer from conn and records its status.
func (a *attempt) answer(conn net.Conn) error {
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && a.ctx.Err() == nil {
		return fmt.Errorf("no answer within %v", a.Patient)
	}
	if err != nil {
		a.seen = append(a.seen, 0)
		return nil
	}
	a.seen = append(a.seen, r.StatusCode)
	_, err = io.Copy(io.Discard, r.Body)
	if errors.As(err, &timeout) && timeout.Timeout() && a.ctx.Err() == nil {
		return fmt.Errorf("status %d, but the answer isn't complete within %v", r.StatusCode, a.Patient)
	}
	return nil
}

func (a *attempt) post(path, kind string, body []byte, more ...string) []byte {
	host := "localhost"
	var b bytes.Buffer
	for _, line := range more {
		if name, value, _ := strings.Cut(line, ": "); name == "Host" {
			host = value
		}
	}
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", path, host, kind,
		len(body))
	for _, line := range more {
		if !strings.HasPrefix(line, "Host: ") {
			b.WriteString(line + "\r\n")
		}
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

const (
	predict  = "/v1/predict"
	jsonKind = "application/json"
	csvKind  = "text/csv"
)

// table returns a request's body of the given kind with rows. cell returns the text of each cell.
func (a *attempt) table(kind string, rows int, names []string, cell func() string) []byte {
	var b bytes.Buffer
	if kind == csvKind {
		b.WriteString(strings.Join(names, ",") + "\n")
	} else {
		b.WriteString(`{"rows": [`)
	}
	for i := range rows {
		if kind != csvKind && i > 0 {
			b.WriteByte(',')
		}
		if kind != csvKind {
			b.WriteByte('[')
		}
		for j := range names {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell())
		}
		if kind == csvKind {
			b.WriteByte('\n')
		} else {
			b.WriteByte(']')
		}
	}
	if kind != csvKind {
		b.WriteString("]}")
	}
	return b.Bytes()
}

func (a *attempt) number() string { return strconv.FormatFloat(4*a.rng.NormFloat64(), 'g', -1, 64) }

func (a *attempt) kind() string { return []string{jsonKind, csvKind}[a.rng.IntN(2)] }

func overflowing(a *attempt) error {
	kind, share := a.kind(), a.rng.Float64()
	body := a.table(kind, 1+a.rng.IntN(500), a.Inputs, func() string {
		if a.rng.Float64() < share*share*share {
			return []string{"1e308", "-1e308", "1.7976931348623157e308", "1e200", "1e155", "-1e160", "1e100"}[a.rng.IntN(7)]
		}
		return a.number()
	})
	for range 1 + a.rng.IntN(20) {
		if err := a.ask(a.post(predict, kind, body)); err != nil {
			return err
		}
	}
	return nil
}

func giant(a *attempt) error {
	kind := a.kind()
	rows := 1000 + a.rng.IntN(11_000)
	cell := a.number
	if a.rng.IntN(2) == 0 {
		cell = func() string { return "1" }
	}
	return a.ask(a.post(predict, kind, a.table(kind, rows, a.Inputs, cell)))
}

// wide sends very many columns, keys or values, up to about two million.
func wide(a *attempt) error {
	n := 1 << a.rng.IntN(22)
	switch a.rng.IntN(6) {
	case 0:
		return a.ask(a.post(predict, csvKind, []byte(strings.Repeat("a,", n)+"b\n1\n")))
	case 1:
		return a.ask(a.post(predict, csvKind, []byte(a.Inputs[0]+"\n1\n"+strings.Repeat("1;", n)+"\n")))
	case 2: // hardly any text occurs twice
		var b bytes.Buffer
		b.WriteString(strings.Join(a.Inputs, ","))
		columns := 1 + a.rng.IntN(600)
		for j := range columns {
			fmt.Fprintf(&b, ",c%d", j)
		}
		for i := 0; b.Len() < n; i++ {
			b.WriteString("\n" + strings.Repeat("1,", len(a.Inputs)-1) + "1")
			for range columns {
				b.WriteByte(',')
				b.WriteString(strconv.FormatInt(a.rng.Int64N(1<<20)+36, 36) + "_")
			}
		}
		return a.ask(a.post(predict, csvKind, b.Bytes()))
	case 3:
		return a.ask(a.post(predict, jsonKind, []byte(`{"rows": [[`+strings.Repeat("1,", n)+`1]]}`)))
	case 4:
		var b bytes.Buffer
		b.WriteString(`{"rows": [{"a":1`)
		for i := range n / 4 {
			fmt.Fprintf(&b, `,"%x":1`, i)
		}
		b.WriteString("}]}")
		return a.ask(a.post(predict, jsonKind, b.Bytes()))
	}
	return a.ask(a.post(predict, jsonKind, []byte(`{"`+strings.Repeat("k", 2*n)+`": 1}`)))
}

func (a *attempt) valid() (kind string, body []byte) {
	kind = a.kind()
	return kind, a.table(kind, 1+a.rng.IntN(4), a.Inputs, a.number)
}

func broken(a *attempt) error {
	kind, body := a.valid()
	const tokens = "\x00\xff\"\\{}[],:;\n\r\t 0eE+-.'nN"
	for range 1 + a.rng.IntN(4) {
		i := a.rng.IntN(len(body))
		switch a.rng.IntN(4) {
		case 0:
			body[i] = tokens[a.rng.IntN(len(tokens))]
		case 1:
			body = append(body[:i:i], body[min(len(body)-1, i+1+a.rng.IntN(8)):]...)
		case 2:
			body = slices.Insert(body, i, []byte(strings.Repeat(string(tokens[a.rng.IntN(len(tokens))]), 1+a.rng.IntN(40)))...)
		case 3:
			body = slices.Insert(body, i, body[:i]...)
		}
	}
	return a.ask(a.post(predict, kind, body))
}

func deep(a *attempt) error {
	n := 1 << a.rng.IntN(20)
	open := []string{"[", `{"rows":`, `{"rows":[`, `{"rows":[{"a":`, `{"a":`}[a.rng.IntN(5)]
	return a.ask(a.post(predict, jsonKind, []byte(`{"rows":[`+strings.Repeat(open, n))))
}

func headers(a *attempt) error {
	kind, body := a.valid()
	var more []string
	switch a.rng.IntN(3) {
	case 0:
		for i := range 1 + a.rng.IntN(4000) {
			more = append(more, fmt.Sprintf("%x: ", i))
		}
	case 1:
		more = []string{"X: " + strings.Repeat("x", 1<<a.rng.IntN(22))}
	case 2:
		more = []string{"Authorization: Bearer " + strings.Repeat(" ", a.rng.IntN(8000)) + "x", "Accept: " +
			strings.Repeat("text/csv;q=0,", a.rng.IntN(800))}
	}
	return a.ask(a.post(predict, kind, body, more...))
}

// drip sends text byte by byte, up to the number most of bytes, and sleeps for the time every after each byte. Half of
// the time it then waits for an answer.
func (a *attempt) drip(conn net.Conn, text []byte, every time.Duration, most int) error {
	for i := range text {
		if i == most || a.ctx.Err() != nil {
			break
		}
		if _, err := conn.Write(text[i : i+1]); err != nil {
			return nil // the server has closed the connection
		}
		time.Sleep(every)
	}
	if a.rng.IntN(2) == 0 {
		return a.answer(conn)
	}
	return nil
}

func slowHeader(a *attempt) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	return a.drip(conn, a.post(predict, jsonKind, []byte(`{"rows": []}`)), time.Duration(a.rng.IntN(100))*time.Millisecond,
		1+a.rng.IntN(30))
}

// slowBody announces long bodies on several connections, and sends little.
func slowBody(a *attempt) error {
	header := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		predict, a.kind(), 8<<20)
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range 1 + a.rng.IntN(40) {
		conn, err := a.dial()
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		conn.Write(append(header, "x"...))
	}
	return a.drip(conns[a.rng.IntN(len(conns))], bytes.Repeat([]byte("1"), 100),
		time.Duration(a.rng.IntN(50))*time.Millisecond, 1+a.rng.IntN(50))
}

// stalled sends most of a long body and then stops.
func stalled(a *attempt) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	body := bytes.Repeat([]byte("1,1,1,1\n"), 1<<17+a.rng.IntN(1<<19))
	request := a.post(predict, csvKind, body)
	conn.Write(request[:len(request)-1-a.rng.IntN(1000)])
	if a.rng.IntN(2) == 0 {
		return a.answer(conn)
	}
	return nil
}

func half(a *attempt) error {
	kind, body := a.valid()
	request := a.post(predict, kind, body)
	for range 1 + a.rng.IntN(20) {
		conn, err := a.dial()
		if err != nil {
			return err
		}
		conn.Write(request[:a.rng.IntN(len(request)+1)])
		if a.rng.IntN(2) == 0 {
			conn.(*net.TCPConn).SetLinger(0) // makes Close reset the connection
		}
		conn.Close()
	}
	return nil
}

func hosts(a *attempt) error {
	kind, body := a.valid()
	names := []string{"krigo.example", "localhost.example:80", "127.0.0.1.example", "0.0.0.0", "", "[::2]", "[", "a b",
		"localhost:99999", strings.Repeat("a", 4000)}
	return a.expect(a.post(predict, kind, body, "Host: "+names[a.rng.IntN(len(names))]), 400, 421, 200)
}

func sites(a *attempt) error {
	kind, body := a.valid()
	if a.rng.IntN(2) == 0 {
		return a.expect(a.post(predict, kind, body, "Origin: https://a.example"), 403)
	}
	return a.expect(a.post(predict, kind, body, "Sec-Fetch-Site: cross-site", "Origin: null"), 403)
}

// expect sends a request, like ask, and returns an error unless the status is one of statuses or 0.
func (a *attempt) expect(request []byte, statuses ...int) error {
	if err := a.ask(request); err != nil {
		return err
	}
	if got := a.seen[len(a.seen)-1]; !slices.Contains(append(statuses, 0), got) {
		return fmt.Errorf("status %d, not one of %v", got, statuses)
	}
	return nil
}

// unread asks for long answers and doesn't read them.
func unread(a *attempt) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetReadBuffer(1024)
	}
	body := a.table(jsonKind, 1000+a.rng.IntN(9000), a.Inputs, func() string { return "1" })
	for range 1 + a.rng.IntN(3) {
		if _, err := conn.Write(a.post(predict, jsonKind, body)); err != nil {
			return nil
		}
	}
	select {
	case <-time.After(time.Duration(a.rng.IntN(2000)) * time.Millisecond):
	case <-a.ctx.Done():
	}
	return nil
}

func noise(a *attempt) error {
	text := make([]byte, 1<<a.rng.IntN(18))
	for i := range text {
		text[i] = byte(a.rng.Uint32())
	}
	switch a.rng.IntN(4) {
	case 0:
		text = append([]byte("GET /v1/model"), text...)
	case 1:
		text = append([]byte("\x16\x03\x01\x02\x00\x01"), text...) // TLS begins so
	case 2:
		text = append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), text...)
	}
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.Write(text)
	conn.(*net.TCPConn).CloseWrite()
	return a.answer(conn)
}

func chunks(a *attempt) error {
	head := "POST " + predict + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n"
	row := strings.Join(a.Inputs, ",") + "\n" + strings.Repeat("1,", len(a.Inputs)-1) + "1\n"
	var body string
	switch a.rng.IntN(6) {
	case 0:
		body = fmt.Sprintf("\r\n%x;%s\r\n%s\r\n0\r\n\r\n", len(row), strings.Repeat("e", a.rng.IntN(1<<16)), row)
	case 1:
		body = "\r\nffffffffffffffff\r\n" + row
	case 2:
		body = "\r\n-1\r\n" + row
	case 3:
		body = fmt.Sprintf("Content-Length: 3\r\n\r\n%x\r\n%s\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n", len(row), row)
	case 4:
		body = "\r\n" + strings.Repeat("1\r\n1\r\n", 1<<a.rng.IntN(16)) + "0\r\n" +
			strings.Repeat("T: x\r\n", a.rng.IntN(1<<12)) + "\r\n"
	case 5:
		head = strings.Replace(head, "chunked", "gzip, chunked", 1)
		body = "\r\n0\r\n\r\n"
	}
	return a.ask([]byte(head + body))
}

// idle opens connections and sends nothing.
func idle(a *attempt) error {
	for range 1 + a.rng.IntN(300) {
		conn, err := a.dial()
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	select {
	case <-time.After(time.Duration(a.rng.IntN(500)) * time.Millisecond):
	case <-a.ctx.Done():
	}
	return nil
}

// flood sends many requests on one connection without waiting, and reads the answers.
func flood(a *attempt) error {
	kind, body := a.valid()
	n := 1 + a.rng.IntN(300)
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		conn.Write(bytes.Repeat(a.post(predict, kind, body), n))
	}()
	defer func() { conn.Close(); <-sent }()
	answers := bufio.NewReader(conn)
	for range n {
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			return nil
		}
		a.seen = append(a.seen, r.StatusCode)
		io.Copy(io.Discard, r.Body)
	}
	return nil
}

// long sends a table of 9,000 rows, a few times on one connection.
func long(a *attempt) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	kind := a.kind()
	request := a.post(predict, kind, a.table(kind, 9000, a.Inputs, a.number))
	for range 1 + a.rng.IntN(20) {
		conn.Write(request)
		if err := a.answer(conn); err != nil {
			return err
		}
	}
	return nil
}

func outcomes(a *attempt) error {
	if a.Target == "" {
		return nil
	}
	kind := a.kind()
	names := append(slices.Clone(a.Inputs), a.Target)
	share := a.rng.Float64() / 4
	body := a.table(kind, 1+a.rng.IntN(200), names, func() string {
		if a.rng.Float64() < share*share {
			return []string{"1e308", "-1e308", "1e200", `"x"`, "null", "NaN"}[a.rng.IntN(6)]
		}
		return a.number()
	})
	var key []string
	if a.rng.IntN(2) == 0 { // few different keys, so that a key is used again
		key = []string{"Idempotency-Key: " + strings.Repeat(string(rune('a'+a.rng.IntN(20))), 1+a.rng.IntN(300))}
	}
	for range 1 + a.rng.IntN(3) {
		if err := a.ask(a.post("/v1/outcomes", kind, body, key...)); err != nil {
			return err
		}
	}
	return nil
}

// together asks several times for joint covariances and samples, of many rows or of extreme values.
func together(a *attempt) error {
	kind := a.kind()
	share := a.rng.Float64() / 4
	body := a.table(kind, 1+a.rng.IntN(1<<a.rng.IntN(11)), a.Inputs, func() string {
		if a.rng.Float64() < share*share*share {
			return []string{"1e308", "-1e308", "1e155", "0", "null"}[a.rng.IntN(5)]
		}
		return a.number()
	})
	number := func() string {
		return []string{"0", "1", "30", "1000", "1001", "-1", "1e3", "9223372036854775807", "18446744073709551615", "x",
			""}[a.rng.IntN(11)]
	}
	query := "?samples=" + number()
	if a.rng.IntN(2) == 0 {
		query += "&covariance=" + []string{"true", "false", "1", ""}[a.rng.IntN(4)]
	}
	if a.rng.IntN(3) == 0 {
		query += "&seed=" + number()
	}
	for range 1 + a.rng.IntN(4) {
		if err := a.ask(a.post("/v1/joint"+query, kind, body)); err != nil {
			return err
		}
	}
	return nil
}
