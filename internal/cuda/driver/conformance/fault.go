package conformance

import (
	"errors"
	"fmt"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Fault has a kernel store where there is no memory, and sees that the context
// is lost, that later calls say so, and that all can be closed. The process may
// not be able to use the device after that.
func Fault(v driver.Device) error {
	gpu, err := v.OpenContext()
	if err != nil {
		return err
	}
	err = Check{check: fault}.Run(gpu)
	if errors.Is(err, cuda.ErrLost) {
		err = nil // of closing what the fault took with it
	}
	if err = first(err, gpu.Close()); err != nil {
		return err
	}
	next, err := v.OpenContext()
	if errors.Is(err, cuda.ErrLost) {
		return nil // the driver does not recover in this process, and says so
	}
	if err != nil {
		return err
	}
	return first(next.Synchronize(), next.Close())
}

func fault(f *fixture) error {
	if err := f.launch("fault", one); err != nil {
		return fmt.Errorf("launching: %v", err)
	}
	if err := f.sync(); !errors.Is(err, cuda.ErrLost) || f.Lost() == nil {
		return fmt.Errorf("a fault: %v, lost: %v", err, f.Lost())
	}
	if _, err := f.Alloc(8); !errors.Is(err, cuda.ErrLost) {
		return fmt.Errorf("after a fault: %v", err)
	}
	return nil
}
