//go:build gpu && linux

package gpu

import (
	"fmt"
	"unsafe"
)

// status is what a function of the driver returns: 0, or what failed.
type status int32

// Statuses that have words of their own, by the names that the driver has for them.
const (
	statusOutOfMemory       status = 2
	statusStubLibrary       status = 34
	statusDeviceUnavailable status = 46
	statusNoDevice          status = 100
	statusInvalidContext    status = 201
	statusNoBinary          status = 209
	statusECC               status = 214
	statusInvalidPTX        status = 218
	statusNVLink            status = 220
	statusNoJIT             status = 221
	statusUnsupportedPTX    status = 222
	statusJITDisabled       status = 223
	statusSystemNotReady    status = 802
	statusDriverMismatch    status = 803
	statusNotCompatible     status = 804
	statusUnknown           status = 999
)

// lost reports whether the card computes no more after a status: it failed, or the memory of
// this program on it is gone.
func (s status) lost() bool {
	switch s {
	case 4, statusDeviceUnavailable, statusInvalidContext, statusECC, statusNVLink, statusUnknown,
		226,                          // contained errors of memory
		700,                          // illegal address
		702,                          // timeout
		709,                          // context destroyed
		710,                          // assertion
		714,                          // hardware stack
		715,                          // illegal instruction
		716,                          // misaligned address
		717,                          // address space
		718,                          // program counter
		719,                          // launch failed
		720,                          // cooperative launch
		721,                          // tensor memory
		805, 806, 807, 808, 809, 810: // the server that shares the card among programs
		return true
	}
	return false
}

// words are the driver's own name and description of a status.
func (l *library) words(s status) string {
	var name, description *byte
	if l.getErrorName.call(uintptr(s), uintptr(unsafe.Pointer(&name))) != 0 || name == nil {
		return fmt.Sprintf("status %d", s)
	}
	if l.getErrorString.call(uintptr(s), uintptr(unsafe.Pointer(&description))) != 0 || description == nil {
		return text(name)
	}
	return text(name) + ": " + text(description)
}

// failure is the error for the status of a function; nil if all is well.
func (l *library) failure(f *function, s status) error {
	switch {
	case s == 0:
		return nil
	case s == statusOutOfMemory:
		return fmt.Errorf("%w (%s)", ErrMemory, l.words(s))
	case s.lost():
		return fmt.Errorf("%w (%s)", ErrLost, l.words(s))
	}
	return fmt.Errorf("%w: its driver refused %s (%s)", ErrLost, f.name, l.words(s))
}

// none is the error for a status while a card is opened; card is its name, as far as it is known.
func (l *library) none(s status, card string) error {
	var why string
	switch s {
	case statusNoDevice:
		why = "the driver finds none; see whether nvidia-smi lists it, and whether CUDA_VISIBLE_DEVICES hides it"
	case statusStubLibrary:
		why = "the driver library is the empty one of the CUDA toolkit; install NVIDIA's driver"
	case statusDeviceUnavailable:
		why = card + " is held by another program; wait until it ends, or let nvidia-smi set the compute mode of the card to default"
	case statusOutOfMemory:
		why = "other programs hold the memory of " + card + "; nvidia-smi lists them"
	case statusNoBinary, statusInvalidPTX, statusUnsupportedPTX:
		why = "NVIDIA's driver is too old for " + card + " and this program; install a newer one"
	case statusNoJIT, statusJITDisabled:
		why = "the driver has no compiler for its kernels; install all of NVIDIA's driver, with libnvidia-ptxjitcompiler.so.1"
	case statusSystemNotReady:
		why = "the machine is not ready for its cards; start NVIDIA's fabric manager"
	case statusDriverMismatch:
		why = "the parts of NVIDIA's driver are of different versions; restart the machine"
	case statusNotCompatible:
		why = "NVIDIA's library for compatibility does not support " + card + "; take it out of the path of libraries"
	default:
		why = "NVIDIA's driver does not start; see what nvidia-smi says"
	}
	return fmt.Errorf("%w: %s (%s)", ErrNone, why, l.words(s))
}
