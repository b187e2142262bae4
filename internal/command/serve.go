package command

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/serve"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	serve.Options
	listen, tokenFile, cert, key string
	logRequests                  bool
}

func newServe(c *common) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve MODEL|FOLDER",
		Short: "Serve predictions over HTTP, and a page to try them",
		Example: `  krigo serve houses.krigo
  curl -s localhost:8080/v1/predict -H 'Content-Type: application/json' \
      -d '{"rows": [{"rooms": 6, "age": 40}]}'
  krigo serve models/ --listen :8443 --token-file token --tls-cert cert.pem \
      --tls-key key.pem`,
		Long: `serve answers requests about a model file, or about all models of a folder, until it is interrupted. It reads files
again when they change. Requests under way end with the model that they began with.

  POST /v1/predict    rows as JSON or CSV: mean, variances and interval of each
  POST /v1/joint      the same, with draws of the function at all rows, or covariances
  POST /v1/outcomes   with --ledger: rows with their targets, compared with the certificate
  GET  /v1/model      a model's inputs, kernel and certificate
  GET  /v1/models     the names of all models
  GET  /openapi.json  the description of these
  GET  /healthz, /readyz, /metrics
  GET  /              a page to predict by hand

serve listens on this machine alone. To serve other machines, name an address and a token file, and a certificate or a
proxy that has one.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, c, args[0]) },
	}
	bind(cmd.Flags(),
		cliFlag{name: "listen", value: "ADDRESS", def: "127.0.0.1:8080", to: &f.listen,
			help: "address and port to listen on; port 0: any that is free"},
		cliFlag{name: "token-file", value: "FILE", to: &f.tokenFile,
			help: "file with the token that requests must bear (Authorization: Bearer TOKEN)"},
		cliFlag{name: "ledger", value: "FILE", to: &f.Ledger, endings: []string{"ledger"},
			help: "take outcomes, and keep them in this file, which is added to, or begun (see " +
				"krigo watch)"},
		cliFlag{name: "open", to: &f.Open,
			help: "without a token serve other machines too, and by any name this one is asked for"},
		cliFlag{name: "tls-cert", value: "FILE", to: &f.cert, endings: []string{"pem"},
			help: "file with the certificate chain, PEM: serve HTTPS"},
		cliFlag{name: "tls-key", value: "FILE", to: &f.key, endings: []string{"pem"},
			help: "file with its key, PEM"}, cliFlag{name: "max-body", value: "BYTES",
			def: fmt.Sprint(serve.Defaults().MaxBody), to: &f.MaxBody,
			help: "bytes of a request's body at most"},
		cliFlag{name: "max-rows", value: "N", def: fmt.Sprint(serve.Defaults().MaxRows),
			to:   &f.MaxRows,
			help: "rows of a request at most"},
		cliFlag{name: "max-waiting", value: "N", def: fmt.Sprint(serve.Defaults().Waiting),
			to: &f.Waiting,
			help: "rows that may wait for one model before requests are turned away, half of " +
				"them of one client"},
		cliFlag{name: "timeout", value: "TIME", def: fmt.Sprint(serve.Defaults().Timeout),
			to:   &f.Timeout,
			help: "time to read a request, to answer it, and to finish when stopped"},
		cliFlag{name: "reload", value: "TIME", def: fmt.Sprint(serve.Defaults().Reload),
			to:   &f.Reload,
			help: "how often model files are looked at"},
		cliFlag{name: "log-requests", to: &f.logRequests,
			help: "log every request, not only those that failed on this side"},
	)
	return cmd
}

// run serves until it is interrupted.
func (f *serveFlags) run(cmd *cobra.Command, c *common, path string) error {
	scheme, err := f.secure()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.quiet {
		level = slog.LevelWarn
	} else if f.logRequests {
		level = slog.LevelDebug
	}
	to := cmd.ErrOrStderr()
	settings := &slog.HandlerOptions{Level: level}
	if c.json {
		f.Log = slog.New(slog.NewJSONHandler(to, settings))
	} else {
		f.Log = slog.New(slog.NewTextHandler(to, settings))
	}
	s, err := serve.New(path, f.Options)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	// Open requests may take f.Timeout to finish after the signal.
	partWith(cmd.Context(), f.Timeout+patience, func() string {
		return "interrupted: requests were still open"
	})
	fmt.Fprintf(cmd.OutOrStdout(), "Serving on %s://%s/ (Ctrl-C to stop)\n", scheme, l.Addr())
	return s.Run(cmd.Context(), l)
}

// secure checks the flags, and reads the token and the certificate that they name.
func (f *serveFlags) secure() (scheme string, err error) {
	if f.MaxBody < 1 || f.MaxRows < 1 || f.Waiting < 1 || f.Timeout <= 0 || f.Reload <= 0 {
		return "", misused("--max-body, --max-rows, --max-waiting, --timeout and --reload must " +
			"be positive")
	}
	if f.tokenFile != "" {
		raw, err := memory.ReadFile(f.tokenFile, textTimes)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		if f.Token = strings.TrimSpace(string(raw)); f.Token == "" {
			return "", fmt.Errorf("--token-file %s: the file is empty", f.tokenFile)
		}
	}
	// Without a token anyone who reaches the port could use the models.
	if f.Token == "" && !f.Open && !serve.Loopback(f.listen) {
		return "", misused("--listen %s lets other machines in: name a --token-file, or say --open",
			f.listen)
	}
	if (f.cert == "") != (f.key == "") {
		return "", misused("--tls-cert and --tls-key go together")
	}
	scheme = "http"
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return "", fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		scheme = "https"
		f.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return scheme, nil
}
