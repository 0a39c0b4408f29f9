package redfox

import (
	"errors"

	"github.com/redfoxdb/redfox/internal/kernelcache"
)

// CodeFolder returns the folder where code that was compiled is kept for later
// processes: that of the environment variable REDFOX_CACHE, or redfox in the user's
// folder of caches. It is "" if there is none. The error, an *EnvironmentError, is the
// reason why the folder is not used: others could have put code into it.
func CodeFolder() (string, error) {
	cache := kernelcache.Open()
	err := cache.Problem()
	var untrusted *kernelcache.UntrustedError
	if errors.As(err, &untrusted) {
		return cache.Dir(), &EnvironmentError{Message: err.Error(), Help: untrusted.Help, Err: err}
	}
	return cache.Dir(), err
}
