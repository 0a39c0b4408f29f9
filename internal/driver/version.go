package driver

import "github.com/redfoxdb/redfox/internal/buildid"

// Version returns the version of redfox: that of the module or, for a build
// from a checkout, the commit.
func Version() string { return buildid.Version() }
