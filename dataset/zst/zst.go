// Package zst reads tables of text that are packed with Zstandard.
//
// This program counts the rows of a packed CSV file:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/krigo-gp/krigo/dataset"
//		"github.com/krigo-gp/krigo/dataset/files"
//		_ "github.com/krigo-gp/krigo/dataset/zst" // files can now read name.csv.zst
//	)
//
//	func main() {
//		table, err := files.ReadFile(os.Args[1], dataset.Reading{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(table.Rows, "rows of", table.Names)
//	}
//
// Package zst stands apart from package dataset because it needs another module.
package zst

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/memory"
)

// A frame states its window, the memory that decoding takes. The decoder refuses a window above a
// quarter of the memory limit, or above 2 GiB. It always takes the format's smallest window.
func init() {
	files.RegisterPacked(files.Format{Name: "Zstandard of CSV", Endings: []string{".zst"},
		Magic: "\x28\xb5\x2f\xfd"}, func(r io.Reader) (io.Reader, error) {
		window := max(uint64(memory.Limit())/4, zstd.MinWindowSize)
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(min(window, 1<<31)))
	}, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}
