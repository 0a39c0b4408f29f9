package cuda

import (
	"fmt"
	"sync"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// Device is one GPU.
type Device struct {
	driver *Driver
	handle deviceHandle
	// capturing is read while a stream is captured, and written while the
	// primary context is waited for, which captures forbid.
	capturing sync.RWMutex

	DeviceInfo
}

// DeviceInfo describes a GPU.
type DeviceInfo struct {
	// Index is the device's place in Driver.Devices.
	Index int
	// Name is the vendor's: "NVIDIA H200".
	Name string
	// UUID tells one GPU from all others, as nvidia-smi writes it, and PCI is
	// its place in this machine.
	UUID, PCI string
	// Memory is the size of the device's memory in bytes. Context.MemoryInfo
	// says what is free of it.
	Memory uint64
	// Attributes are what the hardware and the driver can do.
	Attributes Attributes
}

// Attributes are properties of a device. Sizes are in bytes, rates in kHz.
type Attributes struct {
	Major, Minor         int // the compute capability
	Multiprocessors      int
	WarpSize             int
	ClockRate            int // at most, of the multiprocessors
	MemoryClockRate      int // at most
	MemoryBusWidth       int // in bits
	L2Cache              int
	MaxPersistingL2Cache int // of it, at most what may be set aside for marked accesses

	MaxThreadsPerBlock          int
	MaxThreadsPerMultiprocessor int
	MaxBlocksPerMultiprocessor  int
	MaxGridX                    int
	RegistersPerBlock           int
	RegistersPerMultiprocessor  int
	SharedPerBlock              int // without asking for more
	SharedPerBlockOptin         int // with Function.SetMaxDynamicShared
	SharedPerMultiprocessor     int
	SharedReserved              int // of each block's, for the driver

	CopyEngines       int // copies that can run beside kernels and each other
	ConcurrentKernels bool
	CooperativeLaunch bool
	UnifiedAddressing bool
	VirtualMemory     bool // Context.Reserve works
	MemoryPools       bool // Context.NewPool works
	PageableAccess    bool // kernels can read the host's ordinary memory
	Integrated        bool // device and host share one memory
	ECC               bool
	KernelTimeout     bool // a watchdog ends kernels that take long
}

// attributeField says where an attribute goes: a number or a flag.
type attributeField struct {
	attribute int32
	number    *int
	flag      *bool
}

// fields lists the attributes with their numbers in CUdevice_attribute.
func (a *Attributes) fields() []attributeField {
	return []attributeField{
		{75, &a.Major, nil},
		{76, &a.Minor, nil},
		{16, &a.Multiprocessors, nil},
		{10, &a.WarpSize, nil},
		{13, &a.ClockRate, nil},
		{36, &a.MemoryClockRate, nil},
		{37, &a.MemoryBusWidth, nil},
		{38, &a.L2Cache, nil},
		{108, &a.MaxPersistingL2Cache, nil},
		{1, &a.MaxThreadsPerBlock, nil},
		{39, &a.MaxThreadsPerMultiprocessor, nil},
		{106, &a.MaxBlocksPerMultiprocessor, nil},
		{5, &a.MaxGridX, nil},
		{12, &a.RegistersPerBlock, nil},
		{82, &a.RegistersPerMultiprocessor, nil},
		{8, &a.SharedPerBlock, nil},
		{97, &a.SharedPerBlockOptin, nil},
		{81, &a.SharedPerMultiprocessor, nil},
		{111, &a.SharedReserved, nil},
		{40, &a.CopyEngines, nil},
		{31, nil, &a.ConcurrentKernels},
		{95, nil, &a.CooperativeLaunch},
		{41, nil, &a.UnifiedAddressing},
		{102, nil, &a.VirtualMemory},
		{115, nil, &a.MemoryPools},
		{88, nil, &a.PageableAccess},
		{18, nil, &a.Integrated},
		{32, nil, &a.ECC},
		{17, nil, &a.KernelTimeout},
	}
}

// Read fills the attributes by asking for each by its number in
// CUdevice_attribute. A driver that does not know a number answers with 0 and
// no error.
func (a *Attributes) Read(ask func(attribute int32) (value int32, err error)) error {
	for _, f := range a.fields() {
		value, err := ask(f.attribute)
		if err != nil {
			return err
		}
		if f.flag != nil {
			*f.flag = value != 0
		} else {
			*f.number = int(value)
		}
	}
	return nil
}

// Architecture returns the name that compilers know the device's kind by:
// "sm_90".
func (d *DeviceInfo) Architecture() string {
	return fmt.Sprintf("sm_%d%d", d.Attributes.Major, d.Attributes.Minor)
}

// PeakBandwidth returns the rate of the device's memory in bytes a second, by
// its clock and the width of its bus, which move two bits a cycle and line.
func (d *DeviceInfo) PeakBandwidth() float64 {
	clock, width := float64(d.Attributes.MemoryClockRate), float64(d.Attributes.MemoryBusWidth)
	return 2 * 1000 * clock * width / 8
}

// newDevice reads what the driver says of a device.
func (d *Driver) newDevice(index int32) (*Device, error) {
	fn := &d.fn
	v := &Device{driver: d, DeviceInfo: DeviceInfo{Index: int(index)}}
	if err := fn.failure("cuDeviceGet", fn.DeviceGet(&v.handle, index)); err != nil {
		return nil, err
	}
	var name [256]byte
	if err := fn.failure("cuDeviceGetName",
		fn.DeviceGetName(&name[0], int32(len(name))-1, v.handle)); err != nil {
		return nil, err
	}
	v.Name = dynlib.Text(&name[0])
	if err := fn.failure("cuDeviceTotalMem", fn.DeviceTotalMem(&v.Memory, v.handle)); err != nil {
		return nil, err
	}
	var pci [32]byte
	if err := fn.failure("cuDeviceGetPCIBusId",
		fn.DeviceGetPCIBusId(&pci[0], int32(len(pci))-1, v.handle)); err != nil {
		return nil, err
	}
	v.PCI = dynlib.Text(&pci[0])
	var u [16]byte
	if err := fn.failure("cuDeviceGetUuid", fn.DeviceGetUuid(&u, v.handle)); err != nil {
		return nil, err
	}
	v.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	err := v.Attributes.Read(func(attribute int32) (int32, error) {
		var value int32
		code := fn.DeviceGetAttribute(&value, attribute, v.handle)
		if code == invalidValue {
			return 0, nil // the driver is older than the attribute: what it says is not there
		}
		return value, describe(fn.failure("cuDeviceGetAttribute", code), "attribute %d", attribute)
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}
