package solve

import "grfgp/internal/scratch"

// doubles keeps the memory of factors that are not in use.
var doubles scratch.Pool[float64]
