// Package memory limits how much memory reading a file, or the matrices of a fit, may take.
// So a table that is too large, or made to do harm, ends in an error that names it, and the system
// doesn't kill the process.
//
// This program sets a limit, and is refused what exceeds it:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/memory"
//	)
//
//	func main() {
//		limit, err := memory.Parse("500MB")
//		if err != nil {
//			log.Fatal(err)
//		}
//		memory.SetLimit(limit)
//		if err := memory.Afford("the matrix", 8*1e4*1e4); err != nil { // 10,000 × 10,000 float64s
//			fmt.Println("the matrix is too large for", memory.Text(float64(limit)))
//		}
//		// Output:
//		// the matrix is too large for 477 MiB
//	}
//
// It doesn't count everything that a program allocates.
// Code that is about to allocate much because of what a file says asks [Afford] first.
package memory

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/krigo-gp/krigo/internal/disk"
)

// limit is the limit that SetLimit set, or 0 for the default.
var limit atomic.Int64

// SetLimit sets how many bytes the whole process may take.
// 0, the default, means half of the machine's memory, or half of what its container may use if that
// is less.
func SetLimit(bytes int64) { limit.Store(max(bytes, 0)) }

// Limit returns how many bytes the process may take.
func Limit() int64 {
	if set := limit.Load(); set > 0 {
		return set
	}
	return byDefault()
}

// unknown is the default if the machine's memory is unknown.
const unknown = 4 << 30

var byDefault = sync.OnceValue(func() int64 {
	if total := machine("/"); total > 0 {
		return total / 2
	}
	return unknown
})

// Error says that something would take more memory than allowed.
type Error struct {
	What  string  // what takes the memory, for example a file
	Need  float64 // least number of bytes
	Limit int64
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s needs %s of memory or more, and %s may be used: raise --memory, or "+
		"make it smaller", e.What, Text(e.Need), Text(float64(e.Limit)))
}

// Afford returns an [Error] if bytes is more than the limit.
// bytes is a float64, so that no product wraps around.
func Afford(what string, bytes float64) error {
	if limit := Limit(); bytes > float64(limit) {
		return &Error{what, bytes, limit}
	}
	return nil
}

// ReadFile reads a whole file. The result takes times bytes of memory for each byte of the file.
// ReadFile stops at the limit, so a file without an end, such as a device, is an error.
func ReadFile(path string, times float64) ([]byte, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := Afford(path, times*float64(info.Size())); err != nil {
		return nil, err
	}
	return ReadAll(f, path, times)
}

// ReadAll does what io.ReadAll does, with the limit of [ReadFile].
func ReadAll(r io.Reader, what string, times float64) ([]byte, error) {
	const growth = 2 // a larger buffer replaces a full one
	most := int64(float64(Limit())/max(times, growth)) + 1
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err == nil && int64(len(text)) == most {
		err = &Error{what, max(times, growth) * float64(most), Limit()}
	}
	return text, err
}

var units = []struct {
	name string
	size float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9},
	{"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// Text formats a number of bytes, for example as 1.5 GiB.
func Text(bytes float64) string {
	for _, u := range units[:4] {
		if bytes >= u.size {
			return strconv.FormatFloat(bytes/u.size, 'g', 3, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(bytes, 'f', 0, 64) + " bytes"
}

// Parse reads a number of bytes such as 4GiB, 500MB or 1000000.
func Parse(text string) (int64, error) {
	number := strings.TrimSpace(text)
	size := 1.0
	for _, u := range units {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number = strings.TrimSpace(number[:n])
			size = u.size
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if bytes := v * size; err == nil && bytes >= 1 && bytes < math.MaxInt64 {
		return int64(bytes), nil
	}
	return 0, fmt.Errorf("%q: want bytes, as in 4GiB or 500MB", text)
}
