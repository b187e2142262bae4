package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// mostConnections is the largest number of open connections, if the process may open enough files.
const mostConnections = 2048

// connectionsWithin returns how many connections may be open if the process may open the given
// number of files. It leaves a quarter of the files for models, the ledger and the log.
// A server without a free file couldn't accept a connection, and so would never close one to make
// room.
func connectionsWithin(files uint64) int { return int(min(mostConnections, max(1, files/4*3))) }

// connections holds the open connections of a server.
// If there are more than most, the server closes a connection of the client that has most
// connections: the one that the server has waited for longest.
// If the server refused new connections instead, anyone could shut other clients out by opening
// connections.
type connections struct {
	most int

	mu   sync.Mutex
	all  map[net.Conn]*connection
	by   map[client]*theirs
	none chan struct{} // closed when no connection is left; nil if nobody waits for that
	// connections that haven't ended, including those that were closed to make room
	alive int
}

// theirs holds the connections of one client.
type theirs struct {
	count int
	// each *connection whose request or body the server waits for, the longest wait first
	waiting list.List
}

// connection is an open connection, with the client that it counts for.
type connection struct {
	net.Conn
	of   client
	from *connections
	at   *list.Element // the place in waiting, or nil if the server doesn't wait for the connection
	gone bool          // the server closed it
	had  bool          // a request has come
}

// connectionKey is the key of the *connection in the context of a connection's requests.
type connectionKey struct{}

// opened adds a new connection. It is http.Server.ConnContext.
func (cs *connections) opened(ctx context.Context, conn net.Conn) context.Context {
	c := &connection{Conn: conn, of: clientAt(conn.RemoteAddr().String()), from: cs}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.alive++
	cs.all[conn] = c
	if cs.by[c.of] == nil {
		cs.by[c.of] = &theirs{}
	}
	cs.by[c.of].count++
	c.wait(true)
	if len(cs.all) > cs.most {
		cs.makeRoom()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// makeRoom closes one connection, because more than cs.most are open. Among the clients that the
// server waits for, it takes the client with most connections, and closes this client's connection
// that has waited longest. If the server waits for no connection, makeRoom closes none. The caller
// holds cs.mu.
func (cs *connections) makeRoom() {
	var most *theirs
	for _, t := range cs.by {
		if t.waiting.Len() > 0 && (most == nil || t.count > most.count) {
			most = t
		}
	}
	if most == nil {
		return // all connections are being served, and will end
	}
	most.waiting.Front().Value.(*connection).close()
}

// silent closes the connections on which no request has ever come.
// A server that ends would wait for each for seconds.
func (cs *connections) silent() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.all {
		if !c.had {
			c.close()
		}
	}
}

// close closes the connection, and stops counting it as open. The caller holds the lock of c.from.
func (c *connection) close() {
	c.remove()
	c.gone = true
	conn := c.Conn
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // TLS's own close sends an alert, which could block
	}
	conn.Close()
}

// changed notes the state of a connection. It is http.Server.ConnState.
func (cs *connections) changed(conn net.Conn, state http.ConnState) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.all[conn]
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		if c != nil {
			c.remove()
		}
		if cs.alive--; cs.alive == 0 && cs.none != nil {
			close(cs.none)
			cs.none = nil
		}
	case c == nil:
	case state == http.StateActive:
		c.had = true
		c.wait(false)
	case state == http.StateIdle:
		c.wait(true)
	}
}

// remove takes the connection off the lists of its server and of its client. The caller holds the
// lock.
func (c *connection) remove() {
	c.wait(false)
	delete(c.from.all, c.Conn)
	t := c.from.by[c.of]
	if t.count--; t.count == 0 {
		delete(c.from.by, c.of)
	}
}

// wait notes whether the server waits for the connection from now on.
func (c *connection) wait(yes bool) {
	t := c.from.by[c.of]
	if c.at != nil {
		t.waiting.Remove(c.at)
		c.at = nil
	}
	if yes {
		c.at = t.waiting.PushBack(c)
	}
}

// reading notes whether the server is reading a request's body.
// The server then waits for the connection too.
func reading(ctx context.Context, yes bool) {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	if c == nil {
		return
	}
	c.from.mu.Lock()
	defer c.from.mu.Unlock()
	if !c.gone {
		c.wait(yes)
	}
}

// end waits until no connection is left.
func (cs *connections) end() {
	cs.mu.Lock()
	none := make(chan struct{})
	if cs.alive > 0 {
		cs.none = none
	} else {
		close(none)
	}
	cs.mu.Unlock()
	<-none
}
