// Package await waits in tests for what goroutines, the collector or a child
// process do, without a guess at how long that takes.
//
// In: a condition. Out: a test error that names it, shortly before the timeout
// of all tests. Only tests import it; it must not import any package of redfox.
package await
