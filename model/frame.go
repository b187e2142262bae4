package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/internal/strict"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/pacbayes"
)

// What files of one model and of several models have in common, and the header of several.

// Magic holds the bytes with which every model file begins.
const Magic = "KRIGO\r\n\x1a"

const (
	prefix    = len(Magic) + 4 + 4
	maxHeader = 1 << 28
)

// named are the keys of a header whose texts are names, findings or options.
// Whatever prints these quotes them.
var named = append([]string{"inputs", "target", "targets", "reading", "encoding", "columns",
	"name", "by", "group", "terms", "subject", "notices", "fitted", "source"},
	observation.Fields()...)

// several is the version of files that hold a model file for each target of a fit.
// It is far from the versions of one model's file.
const several = 100

// Together says what is certified of all targets at once.
// The certificates of all models, and the certificate here, hold together with probability at least
// 1−Delta: each has an equal part of δ. If Parts is 1, which needs the classes of one column, each
// certificate has all of δ and holds by itself.
type Together struct {
	Delta float64 `json:"delta"`
	Parts int     `json:"parts"` // δ of each certificate is Delta/Parts
	// Certificate is about the rows that have all targets.
	// A row's error is the largest of its targets' errors, each as a multiple of its target's ε,
	// times ε of the first target. So a row misses if any of its targets misses.
	Certificate *pacbayes.Certificate `json:"certificate"`
	Reason      string                `json:"certificate_reason,omitempty"` // why there is none
	// Units are the half-widths in each target's own units for each unit of the certificate's
	// half-widths. The unit of relative bands is |y|, and of scaled bands the model's own standard
	// deviation.
	Units []float64 `json:"units,omitempty"`
	Sets  Sets      `json:"-"` // nil unless the targets are the classes of one column
}

// header of a file of several models.
type severalHeader struct {
	Targets  []string `json:"targets"`
	Together Together `json:"together"`
	Sets     Sets     `json:"label_scores,omitempty"`
	Bytes    []int    `json:"bytes"` // lengths of the model files that follow
}

// OfSeveral is the error of reading one model from a file that has models of several targets.
type OfSeveral struct{ Targets []string }

// Error names the file's targets, and the command that extracts the model of one.
func (e *OfSeveral) Error() string {
	return fmt.Sprintf("this file has models of %d targets (%s), and one is needed: krigo "+
		"extract FILE --target NAME --out OTHER.krigo writes the model of one target",
		len(e.Targets), spelling.Quoted(e.Targets, 10))
}

// ofSeveral returns the error of a file of several models that is read as the file of one.
func ofSeveral(raw []byte) error {
	h, _, err := opened(raw)
	if err != nil {
		return err
	}
	return &OfSeveral{h.Targets}
}

// opened checks a file of several models, and returns its header and its model files.
func opened(raw []byte) (h severalHeader, files []byte, err error) {
	n := uint64(binary.LittleEndian.Uint32(raw[len(Magic)+4:]))
	if n > maxHeader || uint64(len(raw)) < uint64(prefix)+n+sha256.Size {
		return h, nil, errors.New("the file of models is cut short: write or copy it again")
	}
	body := raw[:len(raw)-sha256.Size]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], raw[len(body):]) {
		return h, nil, errors.New("the file of models is damaged or was altered: its checksum " +
			"doesn't match")
	}
	const each = 40 // bytes of memory that a byte of JSON may take
	if err := memory.Afford("the header of the file of models", each*float64(n)); err != nil {
		return h, nil, err
	}
	files = body[uint64(prefix)+n:]
	if err := strict.Unmarshal(raw[prefix:uint64(prefix)+n], &h, named...); err != nil {
		return h, nil, fmt.Errorf("the header of the file of models can't be read: %w", err)
	}
	// The model files must fill the rest of the file exactly.
	left := len(files)
	for _, n := range h.Bytes {
		if n < 0 || n > left {
			left = -1
			break
		}
		left -= n
	}
	if left != 0 || len(h.Targets) != len(h.Bytes) || len(h.Targets) < 2 {
		return h, nil, errors.New("the header of the file of models doesn't list the models that " +
			"follow")
	}
	return h, files, nil
}
