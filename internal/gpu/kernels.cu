// The kernels of package gpu. Each has a twin in Go (twins.go), which defines it; tests
// compare the two on random shapes.
//
// A block of vectors has n rows of k columns, k at most 64, one row after the other. Blocks
// and diagonals are double. A null diagonal stands for ones. Factors are numbers for the
// columns of a block, passed by value. Products and sums are rounded one by one: the
// compiler is told not to fuse them, so that results do not depend on it.
//
// Sums over rows are taken in two steps. A group of threads adds up its rows, thread by thread
// and then by a tree in shared memory, and writes a part for each column; total adds the parts.
// Both orders are fixed, so sums have the same bits on every run.

typedef unsigned int u32;
typedef unsigned char u8;
typedef long long i64;
typedef unsigned long long u64;

#define THREADS 256
#define COLUMNS 64

struct factors {
	double of[COLUMNS];
};

// ---- Sparse products ----

// Rows of more entries than this have a group of threads each (product_long).
#define LONG 512

// load reads W numbers of a row of vectors, W of 1 or 2.
template <int W>
__device__ void load(double *y, const double *row) {
	if (W == 1) {
		y[0] = row[0];
		return;
	}
	double2 two = *(const double2 *)row;
	y[0] = two.x;
	y[W - 1] = two.y;
}

// product: a thread has W columns of a row, and takes four entries at a time, whose loads do not
// wait for each other.
template <typename V, int W>
__device__ void product(double *dst, const u32 *ptr, const u32 *col, const V *val, const double *x, int n, int k, double scale, int add) {
	int lanes = k / W;
	i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x;
	i64 i = thread / lanes;
	if (i >= n) return;
	int t = (int)(thread - i * lanes) * W;
	u32 e = ptr[i], end = ptr[i + 1];
	if (end - e > LONG) return;
	double s[W];
#pragma unroll
	for (int w = 0; w < W; w++) s[w] = 0;
	for (; e + 4 <= end; e += 4) {
		double a[4], y[4][W];
#pragma unroll
		for (int j = 0; j < 4; j++) {
			a[j] = (double)val[e + j];
			load<W>(y[j], x + (i64)col[e + j] * k + t);
		}
#pragma unroll
		for (int j = 0; j < 4; j++)
#pragma unroll
			for (int w = 0; w < W; w++) s[w] = s[w] + a[j] * y[j][w];
	}
	for (; e < end; e++) {
		double a = (double)val[e], y[W];
		load<W>(y, x + (i64)col[e] * k + t);
#pragma unroll
		for (int w = 0; w < W; w++) s[w] = s[w] + a * y[w];
	}
	double *to = dst + i * k + t;
#pragma unroll
	for (int w = 0; w < W; w++) to[w] = add ? to[w] + scale * s[w] : scale * s[w];
}

// product sets dst = scale·A·x, or adds it, for the rows of A that are not long. Threads take two
// columns each if k is even.
extern "C" __global__ void product64(double *dst, const u32 *ptr, const u32 *col, const double *val, const double *x, int n, int k, double scale, int add) {
	if (k % 2 == 0)
		product<double, 2>(dst, ptr, col, val, x, n, k, scale, add);
	else
		product<double, 1>(dst, ptr, col, val, x, n, k, scale, add);
}

extern "C" __global__ void product32(double *dst, const u32 *ptr, const u32 *col, const float *val, const double *x, int n, int k, double scale, int add) {
	if (k % 2 == 0)
		product<float, 2>(dst, ptr, col, val, x, n, k, scale, add);
	else
		product<float, 1>(dst, ptr, col, val, x, n, k, scale, add);
}

// reduce adds up what the threads of a group hold for their columns: thread r·k+t has
// sum for column t, r < count. Threads below k return the sum of their column.
__device__ double reduce(double sum, int k, int count) {
	__shared__ double all[THREADS];
	int r = threadIdx.x / k;
	__syncthreads();
	all[threadIdx.x] = sum;
	int half = 1;
	while (half < count) half *= 2;
	for (half /= 2; half > 0; half /= 2) {
		__syncthreads();
		if (r < half && r + half < count) all[threadIdx.x] = all[threadIdx.x] + all[threadIdx.x + half * k];
	}
	__syncthreads();
	return all[threadIdx.x];
}

// put sets or adds scale·sum.
__device__ void put(double *to, double sum, double scale, int add) { *to = add ? *to + scale * sum : scale * sum; }

#define LANES 8
#define FEW 4

// product_few: eight threads have a row, of which each takes every eighth entry, for k ≤ 4 columns.
template <typename V>
__device__ void product_few(double *dst, const u32 *ptr, const u32 *col, const V *val, const double *x, int n, int k, double scale, int add) {
	__shared__ double all[FEW][THREADS];
	i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, i = thread / LANES;
	int lane = threadIdx.x % LANES;
	double s[FEW] = {0, 0, 0, 0};
	bool here = i < n && ptr[i + 1] - ptr[i] <= LONG;
	if (here)
		for (u32 e = ptr[i] + lane; e < ptr[i + 1]; e += LANES) {
			double a = (double)val[e];
			const double *row = x + (i64)col[e] * k;
#pragma unroll
			for (int t = 0; t < FEW; t++)
				if (t < k) s[t] = s[t] + a * row[t];
		}
#pragma unroll
	for (int t = 0; t < FEW; t++) all[t][threadIdx.x] = s[t];
	for (int half = LANES / 2; half > 0; half /= 2) {
		__syncthreads();
		if (lane < half)
			for (int t = 0; t < k; t++) all[t][threadIdx.x] = all[t][threadIdx.x] + all[t][threadIdx.x + half];
	}
	__syncthreads();
	if (here && lane < k) put(dst + i * k + lane, all[lane][threadIdx.x - lane], scale, add);
}

// product_few is product for up to four columns and rows of many entries, with eight threads for each row.
extern "C" __global__ void product_few64(double *dst, const u32 *ptr, const u32 *col, const double *val, const double *x, int n, int k, double scale, int add) {
	product_few<double>(dst, ptr, col, val, x, n, k, scale, add);
}

extern "C" __global__ void product_few32(double *dst, const u32 *ptr, const u32 *col, const float *val, const double *x, int n, int k, double scale, int add) {
	product_few<float>(dst, ptr, col, val, x, n, k, scale, add);
}

template <typename V>
__device__ void product_long(double *dst, const u32 *ptr, const u32 *col, const V *val, const double *x, const u32 *rows, int k, double scale, int add) {
	int count = THREADS / k, t = threadIdx.x % k, r = threadIdx.x / k;
	u32 i = rows[blockIdx.x];
	double sum = 0;
	if (r < count)
		for (u32 e = ptr[i] + r; e < ptr[i + 1]; e += count) sum = sum + (double)val[e] * x[(i64)col[e] * k + t];
	sum = reduce(sum, k, count);
	if (threadIdx.x < k) put(dst + (i64)i * k + t, sum, scale, add);
}

// product_long is product for the listed rows, a group of threads for each.
extern "C" __global__ void product_long64(double *dst, const u32 *ptr, const u32 *col, const double *val, const double *x, const u32 *rows, int k, double scale, int add) {
	product_long<double>(dst, ptr, col, val, x, rows, k, scale, add);
}

extern "C" __global__ void product_long32(double *dst, const u32 *ptr, const u32 *col, const float *val, const double *x, const u32 *rows, int k, double scale, int add) {
	product_long<float>(dst, ptr, col, val, x, rows, k, scale, add);
}

// dense sets dst = A·x for a dense A of n rows and m columns, a group of threads for each row.
extern "C" __global__ void dense(double *dst, const double *a, const double *x, int m, int k) {
	int count = THREADS / k, t = threadIdx.x % k, r = threadIdx.x / k;
	const double *row = a + (i64)blockIdx.x * m;
	double sum = 0;
	if (r < count)
		for (int j = r; j < m; j += count) sum = sum + row[j] * x[(i64)j * k + t];
	sum = reduce(sum, k, count);
	if (threadIdx.x < k) dst[(i64)blockIdx.x * k + t] = sum;
}

template <typename V>
__device__ void row_norms(double *inverse, const u32 *ptr, const V *val, int n) {
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= n) return;
	double sum = 0;
	for (u32 e = ptr[i]; e < ptr[i + 1]; e++) sum = sum + (double)val[e] * (double)val[e];
	inverse[i] = sum > 0 ? 1 / sqrt(sum) : 0;
}

// row_norms sets inverse to 1 over the norms of the rows of a sparse matrix; 0 for rows of zeros.
extern "C" __global__ void row_norms64(double *inverse, const u32 *ptr, const double *val, int n) {
	row_norms<double>(inverse, ptr, val, n);
}

extern "C" __global__ void row_norms32(double *inverse, const u32 *ptr, const float *val, int n) {
	row_norms<float>(inverse, ptr, val, n);
}

// ---- Features ----

// combine sets val[e] = Σ_l coeff[l]·Ψ_l at every entry e of a row, and square to the sum of
// their squares. Row i has entries ptr[i] to ptr[i+1], entry e has num[e] values, and the values
// of row i begin at first[i]. If inverse is not null, it is set to 1/√square, and val is scaled by it.
extern "C" __global__ void combine(double *val, double *square, double *inverse, const u32 *ptr, const u32 *first, const u8 *num, const u8 *len, const float *psi, const double *coeff, int n) {
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= n) return;
	double norm = 0;
	u32 v = first[i];
	for (u32 e = ptr[i]; e < ptr[i + 1]; e++) {
		double sum = 0;
		for (u32 end = v + num[e]; v < end; v++) sum = sum + coeff[len[v]] * (double)psi[v];
		val[e] = sum;
		norm = norm + sum * sum;
	}
	square[i] = norm;
	if (!inverse) return;
	double scale = norm > 0 ? 1 / sqrt(norm) : 0;
	inverse[i] = scale;
	for (u32 e = ptr[i]; e < ptr[i + 1]; e++) val[e] = scale * val[e];
}

// pick sets dst[q] = src[from[q]].
extern "C" __global__ void pick(double *dst, const double *src, const u32 *from, i64 n) {
	i64 q = (i64)blockIdx.x * THREADS + threadIdx.x;
	if (q < n) dst[q] = src[from[q]];
}

// pairs sets q[e] = Σ_s weight_s·(u_is·b_cs + w_is·a_cs) for the entries e = (i, c) of row i. If
// inverse is not null, val is scaled to rows of norm one by it, and the scaling follows: along[i]
// is Σ_e val[e]·q[e], and q[e] becomes (q[e] − along[i]·val[e])·inverse[i].
extern "C" __global__ void pairs(double *q, double *along, const u32 *ptr, const u32 *col, const double *val, const double *inverse, const double *u, const double *w, const double *a, const double *b, int n, int k, struct factors weight) {
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= n) return;
	const double *ui = u + (i64)i * k, *wi = w + (i64)i * k;
	double dot = 0;
	for (u32 e = ptr[i]; e < ptr[i + 1]; e++) {
		const double *ac = a + (i64)col[e] * k, *bc = b + (i64)col[e] * k;
		double sum = 0;
		for (int s = 0; s < k; s++) sum = sum + weight.of[s] * (ui[s] * bc[s] + wi[s] * ac[s]);
		q[e] = sum;
		if (inverse) dot = dot + val[e] * sum;
	}
	if (!inverse) return;
	along[i] = dot;
	for (u32 e = ptr[i]; e < ptr[i + 1]; e++) q[e] = (q[e] - dot * val[e]) * inverse[i];
}

#define PROJECT_THREADS 128
#define PROJECT_ROWS 1024
#define PROJECT_LENGTHS 16

// project writes the part of a group of rows of Σ_e Ψ_l[e]·q[e] for lengths l from low on, 16 of them.
extern "C" __global__ void project(double *parts, const u32 *ptr, const u32 *first, const u8 *num, const u8 *len, const float *psi, const double *q, int n, int low) {
	__shared__ double all[PROJECT_LENGTHS][PROJECT_THREADS];
	for (int l = 0; l < PROJECT_LENGTHS; l++) all[l][threadIdx.x] = 0;
	int base = blockIdx.x * PROJECT_ROWS;
	for (int i = base + threadIdx.x; i < n && i < base + PROJECT_ROWS; i += PROJECT_THREADS) {
		u32 v = first[i];
		for (u32 e = ptr[i]; e < ptr[i + 1]; e++)
			for (u32 end = v + num[e]; v < end; v++) {
				int l = (int)len[v] - low;
				if (l >= 0 && l < PROJECT_LENGTHS) all[l][threadIdx.x] = all[l][threadIdx.x] + (double)psi[v] * q[e];
			}
	}
	for (int half = PROJECT_THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			for (int l = 0; l < PROJECT_LENGTHS; l++) all[l][threadIdx.x] = all[l][threadIdx.x] + all[l][threadIdx.x + half];
	}
	__syncthreads();
	if (threadIdx.x < PROJECT_LENGTHS) parts[(i64)blockIdx.x * PROJECT_LENGTHS + threadIdx.x] = all[threadIdx.x][0];
}

// ---- Sweeps ----
//
// A group of threads takes `rows` rows. Its first (256/k)·k threads are used: each has one column,
// and every (256/k)-th row.

#define EACH(n, k, rows)                                                                  \
	int count = THREADS / k, t = threadIdx.x % k;                                         \
	i64 from = (i64)blockIdx.x * rows, to = from + rows < n ? from + rows : n;            \
	if (threadIdx.x < count * k)                                                          \
		for (i64 i = from + threadIdx.x / k, at = i * k + t; i < to; i += count, at += count * k)

#define PART(parts, width, offset, sum)                                                   \
	{                                                                                     \
		double whole = reduce(threadIdx.x < count * k ? sum : 0, k, count);               \
		if (threadIdx.x < k) parts[(i64)blockIdx.x * (width) + (offset) + threadIdx.x] = whole; \
	}

// total sets sums[t] to the sum of the parts of column t, a group of threads for each.
extern "C" __global__ void total(double *sums, const double *parts, int blocks, int width) {
	double sum = 0;
	for (int b = threadIdx.x; b < blocks; b += THREADS) sum = sum + parts[(i64)b * width + blockIdx.x];
	sum = reduce(sum, 1, THREADS);
	if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// begin sets p = scale∘r; parts of rᵀp.
extern "C" __global__ void begin(double *parts, double *p, const double *r, const double *scale, i64 n, int k, int rows) {
	double sum = 0;
	EACH(n, k, rows) {
		double v = r[at], z = scale ? scale[i] * v : v;
		p[at] = z;
		sum = sum + v * z;
	}
	PART(parts, k, 0, sum)
}

// turn sets p = scale∘r + β∘p.
extern "C" __global__ void turn(double *p, const double *r, const double *scale, i64 n, int k, int rows, struct factors beta) {
	EACH(n, k, rows) {
		double v = r[at];
		p[at] = (scale ? scale[i] * v : v) + beta.of[t] * p[at];
	}
}

// curvature: parts of pᵀ(q + noise∘p).
extern "C" __global__ void curvature(double *parts, const double *p, const double *q, const double *noise, i64 n, int k, int rows) {
	double sum = 0;
	EACH(n, k, rows) {
		double v = p[at];
		sum = sum + v * (q[at] + noise[i] * v);
	}
	PART(parts, k, 0, sum)
}

// step sets e += α∘p and r −= α∘(q + noise∘p); parts of rᵀr, then of rᵀ(scale∘r).
extern "C" __global__ void step(double *parts, double *e, double *r, const double *p, const double *q, const double *noise, const double *scale, i64 n, int k, int rows, struct factors alpha) {
	double rr = 0, rz = 0;
	EACH(n, k, rows) {
		double a = alpha.of[t], v = p[at], h = q[at] + noise[i] * v;
		e[at] = e[at] + a * v;
		double now = r[at] - a * h;
		r[at] = now;
		rr = rr + now * now;
		if (scale) rz = rz + now * (scale[i] * now);
	}
	PART(parts, 2 * k, 0, rr)
	PART(parts, 2 * k, k, rz)
}

// recur sets u = a∘(q + noise∘v) − b∘v − c∘u; parts of uᵀu.
extern "C" __global__ void recur(double *parts, double *u, const double *v, const double *q, const double *noise, i64 n, int k, int rows, struct factors a, struct factors b, struct factors c) {
	double sum = 0;
	EACH(n, k, rows) {
		double x = v[at], h = q[at] + noise[i] * x;
		double y = a.of[t] * h - b.of[t] * x;
		y = y - c.of[t] * u[at];
		u[at] = y;
		sum = sum + y * y;
	}
	PART(parts, k, 0, sum)
}

// rest sets r = α∘(b − (q + noise∘x)); parts of rᵀr. A null q stands for x = 0.
extern "C" __global__ void rest(double *parts, double *r, const double *b, const double *q, const double *x, const double *noise, i64 n, int k, int rows, struct factors alpha) {
	double sum = 0;
	EACH(n, k, rows) {
		double v = b[at];
		if (q) v = v - (q[at] + noise[i] * x[at]);
		v = alpha.of[t] * v;
		r[at] = v;
		sum = sum + v * v;
	}
	PART(parts, k, 0, sum)
}

// dot: parts of pᵀ(weight∘q). A null q stands for ones.
extern "C" __global__ void dot(double *parts, const double *p, const double *q, const double *weight, i64 n, int k, int rows) {
	double sum = 0;
	EACH(n, k, rows) {
		double v = q ? p[at] * q[at] : p[at];
		sum = sum + (weight ? weight[i] * v : v);
	}
	PART(parts, k, 0, sum)
}

// add_columns adds factor_t·e[:, t] to x[:, to_t], or sets it, where to_t is not negative; x has width columns.
extern "C" __global__ void add_columns(double *x, const double *e, i64 n, int k, int width, int rows, struct factors to_column, struct factors factor, int add) {
	EACH(n, k, rows) {
		int column = (int)to_column.of[t];
		double v = factor.of[t] * e[at];
		if (column >= 0) x[i * width + column] = add ? x[i * width + column] + v : v;
	}
}

// columns sets dst[:, t] = src[:, from_t]; src has width columns.
extern "C" __global__ void columns(double *dst, const double *src, i64 n, int k, int width, int rows, struct factors from_column) {
	EACH(n, k, rows) {
		dst[at] = src[i * width + (int)from_column.of[t]];
	}
}

// ---- Rows ----

// gather sets dst[i] = src[index[i]], rows of k numbers.
extern "C" __global__ void gather(double *dst, const double *src, const u32 *index, i64 n, int k, int rows) {
	EACH(n, k, rows) {
		dst[at] = src[(i64)index[i] * k + t];
	}
}

// scatter adds src[i] to dst[index[i]], rows of k numbers. No index occurs twice.
extern "C" __global__ void scatter(double *dst, const double *src, const u32 *index, i64 n, int k, int rows) {
	EACH(n, k, rows) {
		i64 row = (i64)index[i] * k + t;
		dst[row] = dst[row] + src[at];
	}
}

// scale_rows sets dst = factor·(scale∘x), or adds it.
extern "C" __global__ void scale_rows(double *dst, const double *x, const double *scale, i64 n, int k, int rows, double factor, int add) {
	EACH(n, k, rows) {
		double v = x[at];
		if (scale) v = scale[i] * v;
		v = factor * v;
		dst[at] = add ? dst[at] + v : v;
	}
}

// subtract sets dst = keep∘x − out∘dst.
extern "C" __global__ void subtract(double *dst, const double *x, const double *keep, const double *out, i64 n, int k, int rows) {
	EACH(n, k, rows) {
		dst[at] = keep[i] * x[at] - out[i] * dst[at];
	}
}

// observe sets e = y − g − sd∘e: what noisy measurements y leave of draws g, given random numbers e.
extern "C" __global__ void observe(double *e, const double *y, const double *g, const double *sd, i64 n, int k, int rows) {
	EACH(n, k, rows) {
		e[at] = y[i] - g[at] - sd[i] * e[at];
	}
}

// levels adds factor·level[t] to column t, from the memory of the card.
extern "C" __global__ void levels(double *dst, const double *level, i64 n, int k, int rows, double factor) {
	EACH(n, k, rows) {
		dst[at] = dst[at] + factor * level[t];
	}
}

// invert sets dst = 1/(a + b + c).
extern "C" __global__ void invert(double *dst, const double *a, const double *b, double c, i64 n) {
	i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
	if (i < n) dst[i] = 1 / (a[i] + b[i] + c);
}

// extrapolate sets now to now + factor·(now − before), and before to what now was.
extern "C" __global__ void extrapolate(double *now, double *before, i64 n, double factor) {
	i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
	if (at >= n) return;
	double v = now[at];
	now[at] = v + factor * (v - before[at]);
	before[at] = v;
}

// spread adds Σ_t (x[i, t] − mean[i])² to square[i].
extern "C" __global__ void spread(double *square, const double *x, const double *mean, i64 n, int k) {
	i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
	if (i >= n) return;
	double sum = 0;
	for (int t = 0; t < k; t++) {
		double v = x[i * k + t] - mean[i];
		sum = sum + v * v;
	}
	square[i] = square[i] + sum;
}

// ---- Random numbers ----

// stream is a stream of package rng: Philox 2x64 with ten rounds.
struct stream {
	u64 key, index, block, spare;
	bool has_spare;
};

__forceinline__ __device__ u64 next(struct stream *s) {
	if (s->has_spare) {
		s->has_spare = false;
		return s->spare;
	}
	u64 a = s->block++, b = s->index, key = s->key;
	for (int round = 0; round < 10; round++) {
		const u64 multiplier = 0xD2B74407B1CE6E93ull;
		u64 high = __umul64hi(multiplier, a), low = multiplier * a;
		a = high ^ key ^ b;
		b = low;
		key += 0x9E3779B97F4A7C15ull;
	}
	s->spare = b;
	s->has_spare = true;
	return a;
}

// log_uniform returns the logarithm of the next uniform number in [0, 1), of 53 bits.
__forceinline__ __device__ double log_uniform(struct stream *s) {
	u64 m = next(s) << 11 >> 11;
	if (m == 0) return -1e300 * 1e300;
	int halvings = 0; // u = m·2^-53 = f·2^-halvings with f in [1, 2)
	while (!(m >> 52)) {
		m <<= 1;
		halvings++;
	}
	halvings++;
	double f = (double)m / 4503599627370496.0;
	if (f > 1.4142135623730951) {
		f = f / 2;
		halvings--;
	}
	// log f = 2·artanh z, z = (f − 1)/(f + 1), |z| < 0.172.
	double z = (f - 1) / (f + 1), square = z * z, sum = 0;
	for (int j = 25; j >= 3; j -= 2) sum = (sum + 1.0 / j) * square;
	return 2 * z + 2 * z * sum - halvings * 0.6931471805599453;
}

// exponential returns eᵃ for a from −10 to 0.
__device__ double exponential(double a) {
	int halvings = (int)(0.5 - a * 1.4426950408889634);
	double r = a + halvings * 0.693147180369123816490 + halvings * 1.90821492927058770002e-10, sum = 1;
	for (int j = 14; j >= 1; j--) sum = 1 + sum * r / j;
	for (; halvings > 0; halvings--) sum = sum / 2;
	return sum;
}

// normal returns the next normal number of a stream by the ziggurat of Marsaglia and Tsang, as Go's
// math/rand/v2 does; the tables are those of ziggurat in normals.go.
__forceinline__ __device__ double normal(struct stream *s, const u32 *kn, const float *wn, const float *fn) {
	const double tail = 3.442619855899;
	for (;;) {
		u64 u = next(s);
		int j = (int)(u32)u, i = (int)(u >> 32 & 0x7F);
		double x = (double)j * (double)wn[i];
		if ((j < 0 ? 0u - (u32)j : (u32)j) < kn[i]) return x;
		if (i == 0) {
			double y;
			do {
				x = -log_uniform(s) * (1.0 / tail);
				y = -log_uniform(s);
			} while (!(y + y >= x * x));
			return j > 0 ? tail + x : -tail - x;
		}
		float uniform = (float)((double)(next(s) << 11 >> 11) / 9007199254740992.0);
		if (fn[i] + uniform * (fn[i - 1] - fn[i]) < (float)exponential(-.5 * x * x)) return x;
	}
}

#define STREAM_ROWS 1024

// normals sets dst to normal random numbers: column t of the rows from 1024·b on has those of
// stream b + first of the family keys[t]. A thread has one stream.
extern "C" __global__ void normals(double *dst, const u64 *keys, const u32 *kn, const float *wn, const float *fn, i64 n, int k, i64 first) {
	i64 thread = (i64)blockIdx.x * THREADS + threadIdx.x, b = thread / k;
	int t = (int)(thread - b * k);
	i64 from = b * STREAM_ROWS, to = from + STREAM_ROWS < n ? from + STREAM_ROWS : n;
	if (from >= n) return;
	struct stream s = {keys[t], (u64)(b + first), 0, 0, false};
	for (i64 i = from; i < to; i++) dst[i * k + t] = normal(&s, kn, wn, fn);
}
