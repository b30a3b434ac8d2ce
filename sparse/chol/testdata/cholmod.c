/* Factors κ²I + L of a grid (rows, columns) or of a ring (rows, 1) by CHOLMOD, and prints what the test compares:
   entries of the factor, and CPU seconds of ordering, factor and one solve. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <suitesparse/cholmod.h>

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void join(cholmod_triplet *t, double *diagonal, int i, int j) {
	size_t k = t->nnz++;
	((int *)t->i)[k] = i > j ? i : j;
	((int *)t->j)[k] = i > j ? j : i;
	((double *)t->x)[k] = -1;
	diagonal[i]++;
	diagonal[j]++;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	int rows = atoi(argv[1]), cols = atoi(argv[2]), n = rows * cols;
	double kappa2 = atof(argv[3]);
	cholmod_common c;
	cholmod_start(&c);
	cholmod_triplet *t = cholmod_allocate_triplet(n, n, (size_t)3 * n, -1, CHOLMOD_REAL, &c);
	double *diagonal = calloc(n, sizeof *diagonal);
	for (int i = 0; i < n; i++) {
		if (cols == 1)
			join(t, diagonal, i, (i + 1) % n);
		else {
			if (i % cols + 1 < cols)
				join(t, diagonal, i, i + 1);
			if (i + cols < n)
				join(t, diagonal, i, i + cols);
		}
	}
	for (int i = 0; i < n; i++) {
		size_t k = t->nnz++;
		((int *)t->i)[k] = ((int *)t->j)[k] = i;
		((double *)t->x)[k] = kappa2 + diagonal[i];
	}
	cholmod_sparse *q = cholmod_triplet_to_sparse(t, 0, &c);
	double start = seconds();
	cholmod_factor *f = cholmod_analyze(q, &c);
	double analyzed = seconds();
	cholmod_factorize(q, f, &c);
	double factored = seconds();
	cholmod_dense *b = cholmod_ones(n, 1, CHOLMOD_REAL, &c), *x = cholmod_solve(CHOLMOD_A, f, b, &c);
	double solved = seconds();
	printf("%.0f %.3f %.3f %.3f\n", c.lnz, analyzed - start, factored - analyzed, solved - factored);
	return ((double *)x->x)[0] > 0 && c.status == CHOLMOD_OK ? 0 : 1;
}
