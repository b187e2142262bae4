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

// mostHeaders may a request have: of as short ones as there can be, a header of the size that is taken holds thousands,
// which take many times its memory.
const mostHeaders = 100

// Loopback says whether only this machine can reach an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return local(host)
}

// local says whether a name or an address is this machine's alone, whoever asks.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// guarded lets requests through that aren't a trick. Where this machine alone is served and no token is asked for,
// whoever can send requests from here may ask; a page of another site that is open in a browser here can: its own name
// may be made to lead to this machine, by which the browser takes answers for the page's own. Such requests bear that
// name as their Host.
func guarded(next http.Handler, token, localOnly bool) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			// Of a Content-Length beside chunks nothing is known here. A proxy that goes by it sees another end of the body, and
			// another next request: there is none on this connection.
			w.Header().Set("Connection", "close")
		}
		headers := 0
		for _, values := range r.Header {
			headers += len(values)
		}
		_, malformed := url.ParseQuery(r.URL.RawQuery) // whose parts would be left out
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // it has no port
			host = strings.TrimSuffix(strings.TrimPrefix(r.Host, "["), "]")
		}
		switch {
		case malformed != nil:
			fail(w, 400, fmt.Errorf("the query can't be read: %w", malformed))
		case headers > mostHeaders:
			w.Header().Set("Connection", "close")
			fail(w, http.StatusRequestHeaderFieldsTooLarge, fmt.Errorf("%d headers: send %d at most", headers, mostHeaders))
		case localOnly && !local(host):
			fail(w, http.StatusMisdirectedRequest,
				fmt.Errorf("this server is for its own machine, and was asked for as %q: ask for localhost or 127.0.0.1, or "+
					"start it with a --token-file, or with --open where a proxy passes other names on", r.Host))
		case !token && origins.Check(r) != nil:
			fail(w, http.StatusForbidden, errors.New("a page of another site sent this: use the server's own page, or a "+
				"program; a proxy has to pass on the Host that it was asked for"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// protected lets requests through that bear the token.
func protected(token string, next http.HandlerFunc) http.HandlerFunc {
	if token == "" {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		given = strings.Trim(given, " ") // RFC 9110, section 11.4: the scheme in any case, and then one space or more
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, 401, errors.New("send the token: Authorization: Bearer TOKEN"))
			return
		}
		next(w, r)
	}
}
