package ranks

import "os"

// launched says whether a launcher (mpirun, or srun with PMIx) started this process as one of several.
func launched() bool {
	if size, ok := os.LookupEnv("OMPI_COMM_WORLD_SIZE"); ok {
		return size != "1"
	}
	return os.Getenv("PMIX_RANK") != ""
}
