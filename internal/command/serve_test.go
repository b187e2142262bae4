package command

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/must"
)

// output holds a command's standard output, and can be read while the command runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// TestServe: krigo serve, krigo predict and the Go library give the same predictions, byte for byte, and an interrupt
// ends the server.
func TestServe(t *testing.T) {
	workplace(t)
	runs(t, "fit", "homes.csv", "--target", "MEDV", "--prior", "informed", "--ard", "off", "--restarts", "1", "--out",
		"m.krigo", "--quiet")
	predicted := runs(t, "predict", "m.krigo", "new.csv")
	m := must.Get(krigo.Load("m.krigo"))(t)
	table := must.Get(files.ReadFile("new.csv", dataset.Reading{}))(t)
	ps := must.Get(m.Predict(t.Context(), table, krigo.PredictOptions{}))(t)
	var fromGo bytes.Buffer
	if err := krigo.WritePredictions(&fromGo, ps); err != nil || fromGo.String() != predicted {
		t.Errorf("from Go: %s, %v\nfrom the command line: %s", fromGo.String(), err, predicted)
	}

	ctx, stop := context.WithCancel(context.Background())
	var stdout, stderr output
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, []string{"serve", "m.krigo", "--listen", "127.0.0.1:0", "--log-requests", "--json"}, nil, &stdout,
			&stderr)
	}()
	var url string
	for wait := 0; url == ""; wait++ {
		must.Need(t, wait <= 1000, "%s%s", stdout.String(), stderr.String())
		time.Sleep(10 * time.Millisecond)
		url = regexp.MustCompile(`http://\S+/`).FindString(stdout.String())
	}
	r := must.Get(http.Post(url+"v1/predict", "text/csv", strings.NewReader(read(t, "new.csv"))))(t)
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != 200 || string(body) != predicted {
		t.Errorf("served: status %d, %s, %v\npredicted: %s", r.StatusCode, body, err, predicted)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if status := <-ended; status != 0 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{`"msg":"model loaded"`, `"path":"/v1/predict","status":200`, `"msg":"shutting down"`} {
		must.Hold(t, strings.Contains(stderr.String(), want),
			"no %s in the log:\n%s", want, stderr.String())
	}
}
