package kernel

import (
	"errors"
	"fmt"
	"math"
)

// ErrTheta is wrapped by every error about values of hyperparameters.
var ErrTheta = errors.New("bad hyperparameters")

// checkTheta returns an error unless theta has a finite value for each
// parameter, positive where it must be.
func checkTheta(theta []float64, params []Param) error {
	if len(theta) != len(params) {
		return fmt.Errorf("%w: %d values for %d parameters", ErrTheta, len(theta), len(params))
	}
	for j, p := range params {
		switch v := theta[j]; {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("%w: %s is %v, want a finite number", ErrTheta, p.Name, v)
		case p.Positive && v <= 0:
			return fmt.Errorf("%w: %s is %v, want a positive number", ErrTheta, p.Name, v)
		}
	}
	return nil
}
