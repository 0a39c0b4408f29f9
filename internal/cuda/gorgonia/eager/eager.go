package eager

import "os"

// With cgo, os.Setenv sets the C library's environment, too.
func init() {
	const variable = "CUDA_MODULE_LOADING"
	if os.Getenv(variable) == "" {
		os.Setenv(variable, "EAGER")
	}
}
