// Package serve answers predictions over HTTP.
// It serves one model, or all models of a folder, and reads a model again when its file changes.
//
// This program adds a model's API and page to a server of its own, under /prices/:
//
//	package main
//
//	import (
//		"log"
//		"net/http"
//		"os"
//
//		"github.com/krigo-gp/krigo"
//		"github.com/krigo-gp/krigo/serve"
//	)
//
//	func main() {
//		m, err := krigo.Load(os.Args[1])
//		if err != nil {
//			log.Fatal(err)
//		}
//		h, err := serve.Handler(m, serve.Defaults())
//		if err != nil {
//			log.Fatal(err)
//		}
//		http.Handle("/prices/", http.StripPrefix("/prices", h))
//		log.Fatal(http.ListenAndServe("localhost:8080", nil)) // POST /prices/v1/predict
//	}
//
// The server answers these requests:
//
//	POST /v1/predict   rows as JSON or CSV: mean, variances and interval of each row
//	POST /v1/joint     the same, with draws of the function at all rows, or covariances
//	POST /v1/outcomes  rows with targets, which are compared with the certificate and kept in a ledger
//	GET  /v1/model     a model's inputs, kernel and certificate
//	GET  /v1/models    the names of all models
//	GET  /openapi.json the description of these routes
//	GET  /healthz      whether the server lives
//	GET  /readyz       whether it has models to predict from
//	GET  /metrics      figures for Prometheus
//	GET  /             a page to predict by hand
//
// Rows of requests that arrive together are predicted together.
// A row's prediction doesn't depend on other rows, so the answer equals the result of
// krigo.Model.Predict to the last bit.
//
// A client is an IP address, or a network in IPv6 (type client).
// Memory, turns and places in queues are divided among clients, so that no client can keep other
// clients from being served.
package serve
