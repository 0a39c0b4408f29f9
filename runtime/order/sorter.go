package order

import (
	"context"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Allocator lends memory that an engine accounts for.
type Allocator interface {
	// Alloc returns n zeroed words, n > 0, or an error that says that what
	// wanted more than there is.
	Alloc(what string, n int) ([]uint64, error)
	// Free takes back what Alloc returned.
	Free(words []uint64)
}

// Sorter orders rows. It holds no state: it is a value to use from any
// goroutine.
type Sorter struct {
	// Threads bounds the goroutines at work; 0 means as many as there are
	// cores.
	Threads int
	// Memory is where scratch memory and results come from; nil is Heap.
	Memory Allocator
}

// Selection is some rows, in an order.
type Selection struct {
	Rows []uint32

	words []uint64 // that Rows lies in
	from  Allocator
}

// Free gives the memory of the selection back; Rows must not be used any more.
func (s *Selection) Free() {
	if s.words != nil {
		s.from.Free(s.words)
	}
	*s = Selection{}
}

// Heap is the Allocator of Go's heap.
type Heap struct{}

// Alloc makes words.
func (Heap) Alloc(_ string, n int) ([]uint64, error) { return make([]uint64, n), nil }

// Free leaves words to the collector.
func (Heap) Free([]uint64) {}

func (s *Sorter) memory() Allocator {
	if s.Memory == nil {
		return Heap{}
	}
	return s.Memory
}

// alloc returns n words; none need no memory.
func (s *Sorter) alloc(what string, n int) ([]uint64, error) {
	if n == 0 {
		return nil, nil
	}
	return s.memory().Alloc(what, n)
}

func (s *Sorter) free(words []uint64) {
	if words != nil {
		s.memory().Free(words)
	}
}

// selection returns room for n rows.
func (s *Sorter) selection(what string, n int) (*Selection, error) {
	words, err := s.alloc(what, (n+1)/2)
	if err != nil || n == 0 {
		return &Selection{}, err
	}
	return &Selection{Rows: unsafe.Slice((*uint32)(unsafe.Pointer(&words[0])), n), words: words,
		from: s.memory()}, nil
}

func (s *Sorter) threads() int {
	if s.Threads > 0 {
		return s.Threads
	}
	return goruntime.GOMAXPROCS(0)
}

// Tasks runs f(0), ..., f(n-1), spread over the threads, until the context is
// done.
func (s *Sorter) Tasks(ctx context.Context, n int, f func(i int)) error {
	threads := min(s.threads(), n)
	if threads <= 1 {
		for i := range n {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			f(i)
		}
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var bug atomic.Pointer[any]
	for range threads {
		wg.Go(func() {
			// A panic goes to the caller, who knows what was running.
			defer func() {
				if p := recover(); p != nil {
					bug.CompareAndSwap(nil, &p)
				}
			}()
			for ctx.Err() == nil && bug.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wg.Wait()
	if p := bug.Load(); p != nil {
		panic(*p)
	}
	return context.Cause(ctx)
}

// blocks runs f on consecutive ranges of n rows that are worth a task each.
func (s *Sorter) blocks(ctx context.Context, n int, f func(from, to int)) error {
	const size = 1 << 16
	return s.Tasks(ctx, (n+size-1)/size, func(i int) { f(i*size, min((i+1)*size, n)) })
}
