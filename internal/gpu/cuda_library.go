//go:build gpu && linux

package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Names under which the system's loader finds the driver.
var driverLibraries = []string{"libcuda.so.1", "libcuda.so"}

// function is one of a library that is loaded while the program runs.
type function struct {
	name    string
	address uintptr
}

// call calls a function whose arguments are integers and addresses, and returns its status.
// Go memory stays in place during the call if its address is converted in the list of arguments.
//
//go:uintptrescapes
func (f *function) call(args ...uintptr) status {
	r, _, _ := purego.SyscallN(f.address, args...)
	return status(int32(r))
}

// library has the functions of NVIDIA's driver that are used here, by NVIDIA's names for them
// without cu.
type library struct {
	init, driverGetVersion, getErrorName, getErrorString             function
	deviceGetCount, deviceGet, deviceGetName, deviceGetAttribute     function
	devicePrimaryCtxRetain, devicePrimaryCtxRelease, ctxSetCurrent   function
	memGetInfo, memAlloc, memFree, memAllocHost, memFreeHost         function
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync, memsetD8Async function
	streamCreate, streamDestroy, streamSynchronize                   function
	eventCreate, eventDestroy, eventRecord, eventSynchronize         function
	moduleLoadDataEx, moduleUnload, moduleGetFunction, launchKernel  function
}

// loadLibrary loads the driver from the first of the paths where there is one.
func loadLibrary(paths []string) (*library, error) {
	handle, err := openFirst(paths)
	if err != nil {
		return nil, fmt.Errorf("%w: the driver library %s is not installed (%w); install NVIDIA's driver, and in a container let it see the card",
			ErrNone, paths[0], err)
	}
	l := &library{}
	err = loadFunctions(handle, map[string]*function{
		"cuInit": &l.init, "cuDriverGetVersion": &l.driverGetVersion, "cuGetErrorName": &l.getErrorName, "cuGetErrorString": &l.getErrorString,
		"cuDeviceGetCount": &l.deviceGetCount, "cuDeviceGet": &l.deviceGet, "cuDeviceGetName": &l.deviceGetName,
		"cuDeviceGetAttribute":     &l.deviceGetAttribute,
		"cuDevicePrimaryCtxRetain": &l.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRelease_v2": &l.devicePrimaryCtxRelease,
		"cuCtxSetCurrent": &l.ctxSetCurrent,
		"cuMemGetInfo_v2": &l.memGetInfo, "cuMemAlloc_v2": &l.memAlloc, "cuMemFree_v2": &l.memFree, "cuMemAllocHost_v2": &l.memAllocHost,
		"cuMemFreeHost":        &l.memFreeHost,
		"cuMemcpyHtoDAsync_v2": &l.memcpyHtoDAsync, "cuMemcpyDtoHAsync_v2": &l.memcpyDtoHAsync, "cuMemcpyDtoDAsync_v2": &l.memcpyDtoDAsync,
		"cuMemsetD8Async": &l.memsetD8Async,
		"cuStreamCreate":  &l.streamCreate, "cuStreamDestroy_v2": &l.streamDestroy, "cuStreamSynchronize": &l.streamSynchronize,
		"cuEventCreate": &l.eventCreate, "cuEventDestroy_v2": &l.eventDestroy, "cuEventRecord": &l.eventRecord,
		"cuEventSynchronize": &l.eventSynchronize,
		"cuModuleLoadDataEx": &l.moduleLoadDataEx, "cuModuleUnload": &l.moduleUnload, "cuModuleGetFunction": &l.moduleGetFunction,
		"cuLaunchKernel": &l.launchKernel,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: NVIDIA's driver is too old (%w); install a newer one", ErrNone, err)
	}
	return l, nil
}

// try calls a function, and returns the error for its status.
//
//go:uintptrescapes
func (l *library) try(f *function, args ...uintptr) error { return l.failure(f, f.call(args...)) }

// openFirst loads the first library that there is. The error is that of the first path.
func openFirst(paths []string) (uintptr, error) {
	var first error
	for _, path := range paths {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return handle, nil
		}
		if first == nil {
			first = err
		}
	}
	return 0, first
}

// loadFunctions finds functions by their names.
func loadFunctions(handle uintptr, functions map[string]*function) error {
	var all error
	for name, f := range functions {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		*f = function{name, address}
	}
	return all
}

// text is a string of C.
func text(s *byte) string {
	if s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
