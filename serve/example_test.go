package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/serve"
)

// A server of a folder of models, inside another program.
func Example() {
	folder, err := os.MkdirTemp("", "models")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	m, err := krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8}, Promise: krigo.Promise{Epsilon: 1}})
	if err == nil {
		err = m.Save(filepath.Join(folder, "snelson.krigo"))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := serve.New(folder, serve.Options{MaxRows: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, l) }()

	r, err := http.Post("http://"+l.Addr().String()+"/v1/predict", "text/csv", strings.NewReader("x\n3\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := io.ReadAll(r.Body)
	r.Body.Close()
	header, _, _ := strings.Cut(string(answer), "\n")
	fmt.Println(r.Status, header)
	stop()
	fmt.Println(<-ended)
	// Output:
	// 200 OK mean,latent_variance,predictive_variance,lower95,upper95,outside,latent_sd,predictive_sd
	// <nil>
}

// A model inside another program's own server.
func ExampleHandler() {
	m, err := krigo.Fit(context.Background(), data.Snelson(),
		krigo.Options{Data: krigo.Data{Target: "y"}, Method: krigo.Method{Inducing: 8}, Promise: krigo.Promise{Epsilon: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := serve.Handler(m, serve.Options{MaxRows: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/gp/", http.StripPrefix("/gp", h))
	for _, body := range []string{"x\n3\n", "z\n3\n"} {
		answer, request := httptest.NewRecorder(), httptest.NewRequest("POST", "/gp/v1/predict", strings.NewReader(body))
		request.Header.Set("Content-Type", "text/csv")
		mux.ServeHTTP(answer, request)
		text, _, _ := strings.Cut(answer.Body.String(), "\n")
		fmt.Println(answer.Code, text)
	}
	_, err = serve.Handler(m, serve.Options{Ledger: "outcomes"})
	fmt.Println(err)
	// Output:
	// 200 mean,latent_variance,predictive_variance,lower95,upper95,outside,latent_sd,predictive_sd
	// 400 {"error":"the request: input columns missing: \"x\"; the columns are \"z\""}
	// serve.Handler takes no outcomes: leave out Ledger, or use serve.New
}
