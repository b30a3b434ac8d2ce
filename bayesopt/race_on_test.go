//go:build race

package bayesopt_test

// raceDetector reports that the race detector is on: long experiments are then
// shortened, because they find no more races than small tests.
const raceDetector = true
