package gorgonia

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	_ "github.com/redfoxdb/redfox/internal/cuda/gorgonia/eager" // before cu is initialised
)

// gorgonia is the driver, which cu has initialised.
type gorgonia struct{ devices []driver.Device }

// Open lists the devices of the driver. That there is a driver and a device has
// been seen before main.
func Open() (driver.Driver, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return nil, failure("cuDeviceGetCount", err)
	}
	d := &gorgonia{}
	for i := range n {
		v, err := newDevice(i)
		if err != nil {
			return nil, err
		}
		d.devices = append(d.devices, v)
	}
	return d, nil
}

func (d *gorgonia) Name() string { return "libcuda.so.1 through gorgonia.org/cu" }

func (d *gorgonia) Version() cuda.Version { return cuda.Version(cu.Version()) }

func (d *gorgonia) Devices() []driver.Device { return d.devices }

// device is one GPU.
type device struct {
	handle cu.Device
	info   cuda.DeviceInfo
}

func newDevice(index int) (*device, error) {
	v := &device{info: cuda.DeviceInfo{Index: index}}
	var err error
	if v.handle, err = cu.GetDevice(index); err != nil {
		return nil, failure("cuDeviceGet", err)
	}
	if v.info.Name, err = v.handle.Name(); err != nil {
		return nil, failure("cuDeviceGetName", err)
	}
	id, err := v.handle.UUID()
	if err != nil {
		return nil, failure("cuDeviceGetUuid", err)
	}
	v.info.UUID = "GPU-" + id.String()
	total, err := v.handle.TotalMem()
	if err != nil {
		return nil, failure("cuDeviceTotalMem", err)
	}
	v.info.Memory = uint64(total)

	a := &v.info.Attributes
	if err := a.Read(v.attribute); err != nil {
		return nil, err
	}
	// The hardware has these, and cu does not reach them.
	a.MemoryPools, a.VirtualMemory, a.CooperativeLaunch = false, false, false
	a.SharedPerBlockOptin = a.SharedPerBlock

	// cu lacks cuDeviceGetPCIBusId. A GPU is function 0 of its place.
	var place [3]int32
	for i, part := range []cu.DeviceAttribute{cu.PciDomainID, cu.PciBusID, cu.PciDeviceID} {
		if place[i], err = v.attribute(int32(part)); err != nil {
			return nil, err
		}
	}
	v.info.PCI = fmt.Sprintf("%04X:%02X:%02X.0", place[0], place[1], place[2])
	return v, nil
}

// attribute asks for an attribute by its number in CUdevice_attribute, and
// answers 0 for one that the driver does not know.
func (v *device) attribute(number int32) (int32, error) {
	value, err := v.handle.Attribute(cu.DeviceAttribute(number))
	if err == cu.InvalidValue {
		return 0, nil
	}
	return int32(value), failure("cuDeviceGetAttribute", err)
}

func (v *device) Info() *cuda.DeviceInfo { return &v.info }
