// A driver of a card that is none, for tests of how this program uses a driver. The memory of
// the card is that of the host. Copies are queued, and done as late as a card may do them.
// Kernels do nothing but show their arguments.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char failing[64];
static int failure, capability = 90, cards = 1;
static uint64_t capacity = 1ull << 30;
static int retained, pinned, events, streams, modules, memories;
static unsigned char seen[4096];
static __thread int here; // whether the context is current, which is a property of the thread

// fail makes a function return a status; "" makes all well.
void fail(const char *name, int status) {
	strncpy(failing, name, sizeof failing - 1);
	failure = status;
}
void set_cards(int n, int capability_of_each) {
	cards = n;
	capability = capability_of_each;
}
void set_memory(uint64_t bytes) { capacity = bytes; }
int held(void) { return retained + pinned + events + streams + modules + memories; }
const unsigned char *launched(void) { return seen; }

#define ENTER if (!strcmp(failing, __func__)) return failure;
#define CURRENT ENTER if (!here) return 201;

// What is queued: copies of bytes, and settings of bytes to a value if there is no source.
static struct { char *to; const char *from; size_t n; } queue[64];
static int first, last;

static void run(int until) {
	for (; first < until; first++) {
		if (queue[first % 64].from) memcpy(queue[first % 64].to, queue[first % 64].from, queue[first % 64].n);
		else memset(queue[first % 64].to, 0, queue[first % 64].n);
	}
}
static int enqueue(uint64_t to, uint64_t from, size_t n, void *stream) {
	if (last - first == 64) run(first + 1);
	queue[last % 64].to = (char *)to;
	queue[last % 64].from = (char *)from;
	queue[last++ % 64].n = n;
	return stream != &streams;
}

int cuInit(unsigned flags) { ENTER return flags; }
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
int cuGetErrorName(int s, const char **name) {
	*name = s == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : s == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : s == 12345 ? 0 : "CUDA_ERROR_OTHER";
	return !*name;
}
int cuGetErrorString(int s, const char **text) {
	*text = s == 700 ? "an illegal memory access was encountered" : "described";
	return 0;
}
int cuDeviceGetCount(int *n) { ENTER *n = cards; return 0; }
int cuDeviceGet(int *d, int i) { ENTER *d = i; return 0; }
int cuDeviceGetName(char *name, int length, int d) { ENTER strncpy(name, "Test card", length); return d; }
int cuDeviceGetAttribute(int *v, int a, int d) { ENTER *v = a == 75 ? capability / 10 : capability % 10; return d; }
int cuDevicePrimaryCtxRetain(void **c, int d) { ENTER *c = &retained; retained++; return d; }
int cuDevicePrimaryCtxRelease_v2(int d) { ENTER retained--; return d; }
int cuCtxSetCurrent(void *c) { ENTER here = c == &retained; return c && !here; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { CURRENT *f = capacity; *t = 1ull << 30; return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) {
	CURRENT
	if (n > capacity) return 2;
	*p = (uint64_t)malloc(n);
	memories++;
	return 0;
}
int cuMemFree_v2(uint64_t p) { CURRENT free((void *)p); memories--; return first != last; }
int cuMemAllocHost_v2(void **p, size_t n) { CURRENT *p = malloc(n); pinned++; return 0; }
int cuMemFreeHost(void *p) { CURRENT free(p); pinned--; return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t d, uint64_t s, size_t n, void *q) { CURRENT return enqueue(d, s, n, q); }
int cuMemcpyDtoHAsync_v2(uint64_t d, uint64_t s, size_t n, void *q) { CURRENT return enqueue(d, s, n, q); }
int cuMemcpyDtoDAsync_v2(uint64_t d, uint64_t s, size_t n, void *q) { CURRENT return enqueue(d, s, n, q); }
int cuMemsetD8Async(uint64_t d, unsigned char v, size_t n, void *q) { CURRENT return v || enqueue(d, 0, n, q); }
int cuStreamCreate(void **q, unsigned flags) { CURRENT *q = &streams; streams++; return flags != 1; }
int cuStreamDestroy_v2(void *q) { CURRENT streams--; return q != &streams; }
int cuStreamSynchronize(void *q) { CURRENT run(last); return q != &streams; }
int cuEventCreate(void **e, unsigned flags) { CURRENT *e = calloc(1, sizeof(int)); events++; return flags != 2; }
int cuEventDestroy_v2(void *e) { CURRENT free(e); events--; return 0; }
int cuEventRecord(int *e, void *q) { CURRENT *e = last; return q != &streams; }
int cuEventSynchronize(int *e) { CURRENT run(*e); return 0; }
int cuModuleLoadDataEx(void **m, const char *image, unsigned n, void *o, void *v) {
	CURRENT
	*m = &modules;
	modules++;
	return n || o || v || !strstr(image, ".entry");
}
int cuModuleUnload(void *m) { CURRENT modules--; return m != &modules; }
int cuModuleGetFunction(const char **f, void *m, const char *name) {
	CURRENT
	*f = !strcmp(name, "pick") ? "pick" : !strcmp(name, "recur") ? "recur" : 0;
	return m != &modules ? 400 : *f ? 0 : 500;
}

// A launch shows the arguments of pick or recur one after the other, without gaps, and then the
// numbers of groups and of threads.
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned tx, unsigned ty, unsigned tz, unsigned shared, void *q, void **args, void **extra) {
	CURRENT
	static const int pick[] = {8, 8, 8, 8, 0}, recur[] = {8, 8, 8, 8, 8, 8, 4, 4, 512, 512, 512, 0};
	unsigned char *to = seen;
	for (const int *size = f[0] == 'p' ? pick : recur; *size; to += *size++) memcpy(to, *args++, *size);
	memcpy(to, (unsigned[]){gx, tx}, 8);
	return gy != 1 || gz != 1 || ty != 1 || tz != 1 || shared || q != &streams || extra;
}
