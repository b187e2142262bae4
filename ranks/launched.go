package ranks

import "os"

// Launched says whether a launcher (mpirun, or srun with PMIx) started this process as one of several.
func Launched() bool {
	if size, ok := os.LookupEnv("OMPI_COMM_WORLD_SIZE"); ok {
		return size != "1"
	}
	return os.Getenv("PMIX_RANK") != ""
}
