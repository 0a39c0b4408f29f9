package ptxas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// Variable is the environment variable that may hold the assembler's path.
const Variable = "REDFOX_PTXAS"

// ErrNotFound says that this machine has no assembler and how to get one.
var ErrNotFound = errors.New("ptxas is not installed: .ci/run fetches it, the CUDA toolkit has it, " + Variable + " may name it")

// fetched are the places where .ci/run leaves the assembler, from the module's
// root: a wheel of the benchmarks' Python, or an unpacked Debian package.
var fetched = []string{
	"bench/data/venv/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas",
	"bench/data/ptxas/ptxas",
}

// Find returns the assembler's path. The error is ErrNotFound, or says that
// what the environment names cannot be run.
func Find() (string, error) { return find() }

var find = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	return locate(root)
})

// locate looks for the assembler, the module being at root.
func locate(root string) (string, error) {
	if named := os.Getenv(Variable); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s: %w", Variable, err)
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath("ptxas"); err == nil {
		return path, nil
	}
	for _, pattern := range fetched {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if path, err := exec.LookPath(path); err == nil {
				return path, nil
			}
		}
	}
	return "", ErrNotFound
}

// moduleRoot is the closest folder above the working directory that has a
// go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir, err = filepath.Dir(dir), nil
	}
	return "", err
}

// Need skips a test on a machine without the assembler.
func Need(t testing.TB) {
	t.Helper()
	short.Skip(t, "ptxas assembles nothing")
	switch _, err := Find(); {
	case errors.Is(err, ErrNotFound):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}
