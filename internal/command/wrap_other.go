//go:build !unix

package command

import "os"

// terminalColumns returns 0, because the width of a terminal isn't known on this system.
func terminalColumns(*os.File) int { return 0 }
