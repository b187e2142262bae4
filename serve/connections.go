package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// mostConnections may be open, where the system lets the process have more files than that.
const mostConnections = 2048

// connectionsWithin leaves a quarter of the files that the process may open for models, the ledger and the log: a
// server without one to spare could accept no connection, and so close none.
func connectionsWithin(files uint64) int { return int(min(mostConnections, max(1, files/4*3))) }

// connections are those of a server. Beyond most of them the one that the server has waited for longest, of the client
// that has most, makes room: a limit that keeps new ones out would let anyone close the server by opening connections.
type connections struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]*connection
	by    map[client]*theirs
	none  chan struct{} // is closed when there are none left, if anyone waits for that
	alive int           // not ended, those that were closed to make room too
}

// theirs are the connections of one client.
type theirs struct {
	count   int
	waiting list.List // of *connection that the server waits for: first requests, next ones, bodies; the longest first
}

type connection struct {
	net.Conn
	of   client
	from *connections
	at   *list.Element // nil while the server doesn't wait for it
	gone bool          // closed to make room
}

type connectionKey struct{}

// opened is http.Server.ConnContext.
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

// makeRoom closes a connection.
func (cs *connections) makeRoom() {
	var most *theirs
	for _, t := range cs.by {
		if t.waiting.Len() > 0 && (most == nil || t.count > most.count) {
			most = t
		}
	}
	if most == nil {
		return // all are at work, which has an end
	}
	c := most.waiting.Front().Value.(*connection)
	c.remove()
	c.gone = true
	conn := c.Conn
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // a farewell could block
	}
	conn.Close()
}

// changed is http.Server.ConnState.
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
		c.wait(false)
	case state == http.StateIdle:
		c.wait(true)
	}
}

func (c *connection) remove() {
	c.wait(false)
	delete(c.from.all, c.Conn)
	t := c.from.by[c.of]
	if t.count--; t.count == 0 {
		delete(c.from.by, c.of)
	}
}

// wait says whether the server waits for the connection from now on.
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

// reading says whether a request's body is being read, for which the server waits too.
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

// end waits until there are none.
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
