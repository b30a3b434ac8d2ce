package replay

// Outcome says whether a policy is better than random picks.
type Outcome string

const (
	Incomplete Outcome = "incomplete" // no replay is complete
	TooFew     Outcome = "too_few"    // fewer than LeastSeeds replays
	Equal      Outcome = "equal"      // the same loss in every replay
	Constant   Outcome = "constant"   // the same difference in every replay: its error is not known
	Unclear    Outcome = "unclear"    // no significant difference by Student's t test
	Better     Outcome = "better"
	Worse      Outcome = "worse"
)

// Outcome judges a gain, the loss of random picks less that of a policy, by
// Student's t test; see Clear.
func (e Estimate) Outcome() Outcome {
	switch {
	case e.Seeds == 0:
		return Incomplete
	case e.Seeds < LeastSeeds:
		return TooFew
	case e.SE == 0 && e.Mean == 0:
		return Equal
	case e.SE == 0:
		return Constant
	case !e.Clear():
		return Unclear
	case e.Mean > 0:
		return Better
	}
	return Worse
}

// Verdict compares a policy with random picks.
type Verdict struct {
	Outcome      Outcome
	Policy       string
	Loss         float64  // of the policy, averaged over replays
	Random       float64  // loss of random picks
	Uniform      bool     // Random is the exact expectation of uniform draws, not the mean of replays
	Gain         Estimate // Random less Loss
	Measurements int
}

// Verdict compares a policy with the exact expected loss of uniform draws if that
// is known, otherwise with the replays of bayesopt.Random. ok is false if there is
// neither.
func (r *Result) Verdict(policy string) (v Verdict, ok bool) {
	v = Verdict{Policy: policy, Loss: r.Final(policy).Mean, Measurements: r.Start + r.Steps}
	switch n := len(r.Uniform); {
	case n > 0: // replays of random picks have an error of their own
		v.Uniform, v.Gain, v.Random = true, r.GainOverUniform(policy), r.Uniform[n-1].Loss
	case r.Random != "":
		v.Gain, v.Random = r.Gain(policy, r.Random), r.Final(r.Random).Mean
	default:
		return v, false
	}
	v.Outcome = v.Gain.Outcome()
	return v, true
}
