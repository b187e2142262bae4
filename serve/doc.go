// Package serve answers predictions over HTTP: one model, or all models of a folder, which
// are read again when their files change.
//
//	POST /v1/predict   rows as JSON or CSV: mean, variances and interval of each
//	POST /v1/joint     the same, with draws of the function at all rows, or covariances
//	POST /v1/outcomes  rows with targets: held against the certificate, and kept in a ledger
//	GET  /v1/model     a model's inputs, kernel and certificate
//	GET  /v1/models    the names of all models
//	GET  /openapi.json the description of these
//	GET  /healthz      whether the server lives
//	GET  /readyz       whether it has models to predict from
//	GET  /metrics      figures for Prometheus
//	GET  /             a page to predict by hand
//
// Rows of requests that arrive together are predicted together. A row's prediction doesn't
// depend on the others, so that the answer is, to the last bit, what krigo.Model.Predict returns.
package serve
