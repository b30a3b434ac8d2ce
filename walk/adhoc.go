package walk

// AdHoc is Independent without the importance weights: walkers take uniform steps
// and carry the product of the weights W_ij alone. It reproduces the ablation of
// the paper's equation 13. Its features define a valid kernel, but not an
// estimate of (Σ f_l W^l)². It is never chosen automatically.
const AdHoc Sampler = 2
