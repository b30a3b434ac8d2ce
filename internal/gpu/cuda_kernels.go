//go:build gpu && linux

package gpu

import (
	_ "embed"
	"fmt"
	"slices"
	"unsafe"
)

//go:embed kernels.cu
var kernelsSource string

//go:embed kernels.ptx
var kernelsPTX string

// Names under which the system's loader finds NVRTC, NVIDIA's compiler as a library, and where
// the toolkit puts it.
var compilerLibraries = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}

// loadKernels loads the kernels, compiled for this card if there is NVRTC, and else as PTX, which
// the driver compiles.
func (c *cuda) loadKernels(capability int, compilers []string) (note string, s status) {
	if image, version, err := compile(compilers, capability); err == nil && c.loadImage(image) == 0 {
		return fmt.Sprintf("kernels compiled for sm_%d by NVRTC %s", capability, version), 0
	}
	if s := c.loadImage(append([]byte(kernelsPTX), 0)); s != 0 {
		return "", s
	}
	return fmt.Sprintf("kernels as PTX for sm_%d and newer", oldest), 0
}

// loadImage loads kernels in a form that the driver knows.
func (c *cuda) loadImage(image []byte) status {
	return c.cu.moduleLoadDataEx.call(uintptr(unsafe.Pointer(&c.module)), uintptr(unsafe.Pointer(&image[0])), 0, 0, 0)
}

// lookUp returns a kernel.
func (c *cuda) lookUp(name string) (uintptr, error) {
	if f, ok := c.kernels[name]; ok {
		return f, nil
	}
	var f uintptr
	if err := c.cu.try(&c.cu.moduleGetFunction, uintptr(unsafe.Pointer(&f)), c.module, uintptr(unsafe.Pointer(zeroed(name)))); err != nil {
		return 0, fmt.Errorf("kernel %s: %w", name, err)
	}
	c.kernels[name] = f
	return f, nil
}

// compiler has the functions of NVRTC that are used here.
type compiler struct {
	version, create, compile, destroy, logSize, log, size, image function
}

// compile compiles the kernels for cards of a compute capability by the NVRTC at the first of the
// paths where there is one, whose version it returns.
func compile(paths []string, capability int) (image []byte, version string, err error) {
	handle, err := openFirst(paths)
	if err != nil {
		return nil, "", err
	}
	var n compiler
	err = loadFunctions(handle, map[string]*function{
		"nvrtcVersion": &n.version, "nvrtcCreateProgram": &n.create, "nvrtcCompileProgram": &n.compile, "nvrtcDestroyProgram": &n.destroy,
		"nvrtcGetProgramLogSize": &n.logSize, "nvrtcGetProgramLog": &n.log, "nvrtcGetCUBINSize": &n.size, "nvrtcGetCUBIN": &n.image,
	})
	if err != nil {
		return nil, "", err
	}
	var major, minor int32
	if s := n.version.call(uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))); s != 0 {
		return nil, "", n.failure("nvrtcVersion", s, "")
	}
	image, err = n.run(capability)
	return image, fmt.Sprintf("%d.%d", major, minor), err
}

// run compiles the kernels. Products and sums are not fused.
func (n *compiler) run(capability int) ([]byte, error) {
	source, file := append([]byte(kernelsSource), 0), []byte("kernels.cu\x00")
	var program uintptr
	if s := n.create.call(uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(&source[0])), uintptr(unsafe.Pointer(&file[0])), 0, 0,
		0); s != 0 {
		return nil, n.failure("nvrtcCreateProgram", s, "")
	}
	defer n.destroy.call(uintptr(unsafe.Pointer(&program)))
	options := [...]*byte{zeroed(fmt.Sprintf("-arch=sm_%d", capability)), zeroed("-fmad=false")}
	if s := n.compile.call(program, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0]))); s != 0 {
		var size int64
		n.logSize.call(program, uintptr(unsafe.Pointer(&size)))
		log := make([]byte, max(size, 1))
		n.log.call(program, uintptr(unsafe.Pointer(&log[0])))
		return nil, n.failure("nvrtcCompileProgram", s, text(&log[0]))
	}
	var size int64
	if s := n.size.call(program, uintptr(unsafe.Pointer(&size))); s != 0 || size == 0 {
		return nil, n.failure("nvrtcGetCUBINSize", s, "")
	}
	image := make([]byte, size)
	if s := n.image.call(program, uintptr(unsafe.Pointer(&image[0]))); s != 0 {
		return nil, n.failure("nvrtcGetCUBIN", s, "")
	}
	return image, nil
}

func (n *compiler) failure(function string, s status, log string) error {
	return fmt.Errorf("%s returned %d: %s", function, s, log)
}

// zeroed is a string for C.
func zeroed(s string) *byte { return &slices.Concat([]byte(s), []byte{0})[0] }
