package parallel

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
)

// Threads returns n, or the number of cores that Go uses if n is 0.
func Threads(n int) int {
	if n > 0 {
		return n
	}
	return goruntime.GOMAXPROCS(0)
}

// Do calls f(0) to f(n-1) on at most threads goroutines.
func Do(threads, n int, f func(i int)) {
	By(threads, n, func(_, i int) { f(i) })
}

// By is Do for work that needs the number of its goroutine.
func By(threads, n int, f func(thread, i int)) {
	if threads <= 1 || n <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func(t int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(t, i)
		}
	}
	for t := 1; t < min(threads, n); t++ {
		wg.Go(func() { work(t) })
	}
	work(0) // others take a while to wake up
	wg.Wait()
}
