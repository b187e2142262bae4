package ranks

import (
	"sync"

	"github.com/krigo-gp/krigo/internal/lists"
)

// Threads returns size ranks within this process, one per goroutine.
// They add up in the order of ranks. This is a job without MPI, for tests.
func Threads(size int) []Ranks {
	m := &meeting{size: size, parts: make([]any, size)}
	m.all = sync.NewCond(&m.mu)
	return lists.To(size, func(i int) Ranks {
		return &group{wire: &thread{m, i}, rank: i, size: size}
	})
}

// meeting is where the goroutines wait for one another. parts has the part of each rank that has
// arrived, result is what the last one made of all parts, and round counts the meetings that ended.
type meeting struct {
	mu      sync.Mutex
	all     *sync.Cond
	size    int
	arrived int
	round   int
	parts   []any
	result  any
}

// join adds a part, and returns what the last goroutine to arrive made of all parts.
func (m *meeting) join(rank int, part any, make func(parts []any) any) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[rank] = part
	if m.arrived++; m.arrived == m.size {
		m.result = make(m.parts)
		m.arrived = 0
		m.round++
		m.all.Broadcast()
		return m.result
	}
	for round := m.round; round == m.round; {
		m.all.Wait()
	}
	return m.result
}

// thread is the wire of one goroutine's rank.
type thread struct {
	meeting *meeting
	rank    int
}

// sum adds up in the order of ranks, so that results don't depend on which goroutine comes last.
func (t *thread) sum(v []float64) {
	total := t.meeting.join(t.rank, v, func(parts []any) any {
		total := make([]float64, len(v))
		for _, part := range parts {
			for i, x := range part.([]float64) {
				total[i] += x
			}
		}
		return total
	})
	copy(v, total.([]float64))
}

// max makes a new slice for the result, because a rank may change its v as soon as its call
// returns, while other ranks still copy the result.
func (t *thread) max(v []int64) {
	most := t.meeting.join(t.rank, v, func(parts []any) any {
		most := append([]int64(nil), parts[0].([]int64)...)
		for _, part := range parts[1:] {
			for i, x := range part.([]int64) {
				most[i] = max(most[i], x)
			}
		}
		return most
	})
	copy(v, most.([]int64))
}

// broadcast copies the root's v while all ranks still wait, before the root may change it.
func (t *thread) broadcast(root int, v []byte) {
	of := t.meeting.join(t.rank, v, func(parts []any) any {
		return append([]byte(nil), parts[root].([]byte)...)
	})
	copy(v, of.([]byte))
}

func (t *thread) close() {}
