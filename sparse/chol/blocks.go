package chol

import (
	"context"

	"grfgp/internal/parallel"
)

// blocks calls do for every block in [0, n), as parallel.Blocks does; nothing fails.
func blocks(n int, do func(worker, block int)) {
	_ = parallel.Blocks(context.Background(), n, func(w, b int) error {
		do(w, b)
		return nil
	})
}
