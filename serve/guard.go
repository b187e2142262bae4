package serve

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// mostHeaders is the largest number of headers of a request.
// Within the allowed size there could be thousands of short headers, which would take many times
// that size in memory.
const mostHeaders = 100

// Loopback says whether only this machine can reach the address, a host with a port.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return local(host)
}

// local says whether a host name or an address means this machine, on every machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && ip.Unmap().IsLoopback())
}

// guarded returns a handler that refuses requests which pages of other sites may have sent, and
// malformed requests.
// token says that requests need a token, and localOnly that only this machine is served, without a
// token.
//
// If localOnly is true, every program on this machine may ask.
// A page of another site, open in a browser here, could ask too:
// its name may be made to lead to this machine, and the browser would then give the answers to the
// page (DNS rebinding). Such requests have that name as their Host, and are refused.
func guarded(next http.Handler, token, localOnly bool) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			// Package http hides the Content-Length of a request that also comes in chunks.
			// A proxy that believes the length sees another end of the body, and so another next
			// request. Closing the connection leaves no next request.
			w.Header().Set("Connection", "close")
		}
		headers := 0
		for _, values := range r.Header {
			headers += len(values)
		}
		_, malformed := url.ParseQuery(r.URL.RawQuery) // r.URL.Query leaves out what it can't read
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // Host has no port
			host = strings.TrimSuffix(strings.TrimPrefix(r.Host, "["), "]")
		}
		switch {
		case malformed != nil:
			fail(w, 400, fmt.Errorf("the query can't be read: %w", malformed))
		case headers > mostHeaders:
			w.Header().Set("Connection", "close")
			fail(w, http.StatusRequestHeaderFieldsTooLarge,
				fmt.Errorf("the request has %d headers: send at most %d", headers, mostHeaders))
		case localOnly && !local(host):
			fail(w, http.StatusMisdirectedRequest,
				fmt.Errorf("this server serves only its own machine, and the request is for %q: "+
					"use localhost or 127.0.0.1, or "+
					"start the server with --token-file, or with --open if a proxy passes on "+
					"other names", r.Host))
		case !token && origins.Check(r) != nil:
			fail(w, http.StatusForbidden,
				errors.New("a page of another site sent this request: use the server's own "+
					"page, or a "+
					"program; a proxy has to pass on the Host of its request"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// protected returns a handler that calls next for requests that bear the token, and for all
// requests if the token is empty.
func protected(token string, next http.HandlerFunc) http.HandlerFunc {
	if token == "" {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// RFC 9110, section 11.4: the scheme in any case, then at least one space
		given = strings.Trim(given, " ")
		if !strings.EqualFold(scheme, "Bearer") ||
			subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, 401, errors.New("send the token: Authorization: Bearer TOKEN"))
			return
		}
		next(w, r)
	}
}
