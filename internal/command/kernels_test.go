package command

import (
	"os"
	"strings"
	"testing"

	"github.com/krigo-gp/krigo/internal/must"
	"github.com/krigo-gp/krigo/kernel"
)

// TestPythonKernels: krigo.kernels has a function for each kernel.
func TestPythonKernels(t *testing.T) {
	text := string(must.Get(os.ReadFile("../../python/krigo/kernels.py"))(t))
	for _, name := range kernel.Names() {
		must.Hold(t, strings.Contains(text, "\ndef "+name+"(") &&
			strings.Contains(text, `"`+name+`"`), "no %s", name)
	}
}
