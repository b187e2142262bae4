//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns returns the width of the terminal that f is, and 0 if f is no terminal.
func terminalColumns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
