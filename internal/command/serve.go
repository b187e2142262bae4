package command

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/serve"
)

func newServe(c *common) *cobra.Command {
	var o serve.Options
	var listen, tokenFile, cert, key string
	var logRequests bool
	cmd := &cobra.Command{
		Use:   "serve MODEL|FOLDER",
		Short: "Predictions over HTTP, and a page to try them",
		Long: `Serve a model file, or all models of a folder, over HTTP until interrupted. Files that
change are read again; requests under way end with the model they began with.

  POST /v1/predict    rows as JSON or CSV: mean, variances and interval of each
  POST /v1/joint      the same, with draws of the function at all rows, or covariances
  POST /v1/outcomes   with --ledger: rows with their targets, held against the certificate
  GET  /v1/model      a model's inputs, kernel and certificate
  GET  /v1/models     the names of all models
  GET  /openapi.json  the description of these
  GET  /healthz, /readyz, /metrics
  GET  /              a page to predict by hand

It listens on this machine alone. For other machines name an address and a token file
(and a certificate, or put it behind a proxy that has one).`,
		Example: `  krigo serve houses.krigo
  curl -s localhost:8080/v1/predict -H 'Content-Type: application/json' -d '{"rows": [{"rooms": 6, "age": 40}]}'
  krigo serve models/ --listen :8443 --token-file token --tls-cert cert.pem --tls-key key.pem`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			fail := func(format string, args ...any) error { return &krigo.UsageError{Err: fmt.Errorf(format, args...)} }
			if o.MaxBody < 1 || o.MaxRows < 1 || o.Waiting < 1 || o.Timeout <= 0 || o.Reload <= 0 {
				return fail("--max-body, --max-rows, --max-waiting, --timeout and --reload must be positive")
			}
			if tokenFile != "" {
				raw, err := memory.ReadFile(tokenFile, textTimes)
				if err != nil {
					return fmt.Errorf("--token-file: %w", err)
				}
				if o.Token = strings.TrimSpace(string(raw)); o.Token == "" {
					return fmt.Errorf("--token-file %s: the file is empty", tokenFile)
				}
			}
			if o.Token == "" && !o.Open && !serve.Loopback(listen) {
				return fail("--listen %s: other machines could use it: name a --token-file, or say --open", listen)
			}
			if (cert == "") != (key == "") {
				return &krigo.UsageError{Err: errors.New("--tls-cert and --tls-key go together")}
			}
			scheme := "http"
			if cert != "" {
				pair, err := tls.LoadX509KeyPair(cert, key)
				if err != nil {
					return fmt.Errorf("--tls-cert, --tls-key: %w", err)
				}
				scheme, o.TLS = "https", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
			}
			level := slog.LevelInfo
			if c.quiet {
				level = slog.LevelWarn
			} else if logRequests {
				level = slog.LevelDebug
			}
			to, settings := cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}
			if c.json {
				o.Log = slog.New(slog.NewJSONHandler(to, settings))
			} else {
				o.Log = slog.New(slog.NewTextHandler(to, settings))
			}
			s, err := serve.New(args[0], o)
			if err != nil {
				return err
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen %s: %w", listen, err)
			}
			partWith(cmd.Context(), o.Timeout+patience, func() string { return "interrupted: requests were still open" })
			fmt.Fprintf(cmd.OutOrStdout(), "Serving on %s://%s/ (Ctrl-C to stop)\n", scheme, l.Addr())
			return s.Run(cmd.Context(), l)
		},
	}
	bind(cmd.Flags(),
		cliFlag{name: "listen", value: "ADDRESS", def: "127.0.0.1:8080", to: &listen,
			help: "address and port to listen on; port 0: any that is free"},
		cliFlag{name: "token-file", value: "FILE", to: &tokenFile,
			help: "file with the token that requests must bear (Authorization: Bearer TOKEN)"},
		cliFlag{name: "ledger", value: "FILE", to: &o.Ledger, endings: []string{"ledger"},
			help: "take outcomes, and keep them in this file, which is added to, or begun (see krigo watch)"},
		cliFlag{name: "open", to: &o.Open,
			help: "without a token serve other machines too, and by any name this one is asked for"},
		cliFlag{name: "tls-cert", value: "FILE", to: &cert, endings: []string{"pem"},
			help: "file with the certificate chain, PEM: serve HTTPS"},
		cliFlag{name: "tls-key", value: "FILE", to: &key, endings: []string{"pem"},
			help: "file with its key, PEM"},
		cliFlag{name: "max-body", value: "BYTES", def: fmt.Sprint(serve.Defaults().MaxBody), to: &o.MaxBody,
			help: "bytes of a request's body at most"},
		cliFlag{name: "max-rows", value: "N", def: fmt.Sprint(serve.Defaults().MaxRows), to: &o.MaxRows,
			help: "rows of a request at most"},
		cliFlag{name: "max-waiting", value: "N", def: fmt.Sprint(serve.Defaults().Waiting), to: &o.Waiting,
			help: "rows that may wait for one model before requests are turned away, half of them of one client"},
		cliFlag{name: "timeout", value: "TIME", def: fmt.Sprint(serve.Defaults().Timeout), to: &o.Timeout,
			help: "time to read a request, to answer it, and to finish when stopped"},
		cliFlag{name: "reload", value: "TIME", def: fmt.Sprint(serve.Defaults().Reload), to: &o.Reload,
			help: "how often model files are looked at"},
		cliFlag{name: "log-requests", to: &logRequests,
			help: "log every request, not only those that failed on this side"},
	)
	return cmd
}
