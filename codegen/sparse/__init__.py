"""`mslite-sparse`: selects the layers and channels to train within a memory budget (sparse update).

The method follows Lin et al. 2022, "On-Device Training Under 256KB Memory". A candidate is the bias of a layer, or the
weights of a fraction of its input channels. Each candidate is trained for a few steps on the user's data; its
contribution is how much the loss on held-back samples falls. The memory planner of generated C computes the memory of a
set of candidates. The search repeatedly adds the candidate with the largest contribution per additional byte.
"""
