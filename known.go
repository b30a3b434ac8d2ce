package grfgp

import (
	"context"
	"fmt"
	"strings"

	"grfgp/kernel/covariates"
)

// known holds the blocks of a Trainer, computed when first used.
type known struct {
	covariates, roles []covariates.Block
	done              Terms
}

// blocks returns the blocks of the given terms. The caller holds b.mu.
func (b *workshop) blocks(ctx context.Context, of Terms) ([]covariates.Block, error) {
	if of.Has(CovariateTerm) && !b.known.done.Has(CovariateTerm) {
		if b.spec.Covariates == nil {
			return nil, fmt.Errorf("%w: the kernel has a term of covariates, and no covariates are given; give the columns with which it was made",
				ErrSpec)
		}
		own, err := covariates.OfSet(ctx, b.spec.Covariates, b.graph)
		if err != nil {
			return nil, err
		}
		b.known.covariates, b.known.done = own, b.known.done|CovariateTerm
	}
	if of.Has(RoleTerm) && !b.known.done.Has(RoleTerm) {
		own, err := covariates.OfRoles(ctx, b.graph)
		if err != nil {
			return nil, err
		}
		b.known.roles, b.known.done = own, b.known.done|RoleTerm
	}
	var all []covariates.Block
	if of.Has(CovariateTerm) {
		all = append(all, b.known.covariates...)
	}
	if of.Has(RoleTerm) {
		all = append(all, b.known.roles...)
	}
	return all, nil
}

// knownKernel returns the kernels over blocks of the given terms. Without pairs the smooth kernel is
// exact. The caller holds b.mu.
func (b *workshop) knownKernel(ctx context.Context, of Terms, pairs int) (*covariates.Kernels, error) {
	key := Expression{Terms: of, Pairs: pairs}
	if k := b.knownKernels[key]; k != nil {
		return k, nil
	}
	blocks, err := b.blocks(ctx, of)
	if err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%w: covariates and roles are the same at all nodes; leave them out", ErrSpec)
	}
	k := covariates.New(strings.Join(of.Names(), "+"), blocks, pairs, b.spec.Seed)
	if b.training > 0 { // the next candidate is likely to have the same terms
		if b.knownKernels == nil {
			b.knownKernels = map[Expression]*covariates.Kernels{}
		}
		b.knownKernels[key] = k
	}
	return k, nil
}
