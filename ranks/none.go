//go:build !mpi

package ranks

import "errors"

// Start returns this process as a rank of its job. Close it at the end.
func Start() (Ranks, error) {
	if Launched() {
		return nil, errors.New("this krigo was built without MPI, so that every process of " +
			"mpirun would do the same work: build it with -tags mpi (docs/how-to/cluster.md)")
	}
	return Alone{}, nil
}
