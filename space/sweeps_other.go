//go:build !amd64 || purego

package space

func turnRows[F floats](o *operands[F], sums []float64)      { turnGo(o, sums) }
func curvatureRows[F floats](o *operands[F], sums []float64) { curvatureGo(o, sums) }
func stepRows[F floats](o *operands[F], sums []float64)      { stepGo(o, sums) }
func dotRows[F floats](o *operands[F], sums []float64)       { dotGo(o, sums) }
func beginRows[F floats](o *operands[F], sums []float64)     { beginGo(o, sums) }
func restRows[F floats](o *operands[F], sums []float64)      { restGo(o, sums) }
func recurRows[F floats](o *operands[F], sums []float64)     { recurGo(o, sums) }
