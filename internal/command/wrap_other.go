//go:build !unix

package command

import "os"

// terminalColumns returns 0: the width of a terminal isn't known here.
func terminalColumns(*os.File) int { return 0 }
