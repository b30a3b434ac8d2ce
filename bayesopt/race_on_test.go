//go:build race

package bayesopt_test

// raceDetector says that long experiments are to be cut short: they find nothing
// that smaller tests do not.
const raceDetector = true
