// What kernels.cu uses of CUDA, for a compiler that has no toolkit: clang makes kernels.ptx
// with this file. NVRTC knows all of it, and is not given it.

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))

// threadIdx.x and its like read registers of the thread.
#define REGISTER(object, name)                                                              \
	struct name##_register {                                                                \
		__declspec(property(get = get)) unsigned int x;                                     \
		static __device__ __forceinline__ unsigned int get() { return __nvvm_read_ptx_sreg_##name##_x(); } \
	};                                                                                      \
	extern __device__ const __attribute__((weak)) name##_register object;
REGISTER(threadIdx, tid)
REGISTER(blockIdx, ctaid)
#undef REGISTER

struct __attribute__((aligned(16))) double2 {
	double x, y;
};

// Rounded correctly, as all of CUDA's operations on double.
__device__ __forceinline__ double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }

// The upper half of a product.
__device__ __forceinline__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return __nvvm_mulhi_ull(x, y); }
