//go:build !race

package bayesopt_test

const raceDetector = false
