package walk

// AdHoc is Independent without the importance weights: walkers take uniform steps
// and carry the product of the weights W_ij alone. It reproduces the ablation of
// the paper's equation 13. Its features make a valid kernel, but do not estimate
// one; no choice of this module ever takes it by itself.
const AdHoc Sampler = 2
