"""`mslite-sparse`: which layers and channels to train under a memory budget, by what they contribute for their bytes.

After Lin et al. 2022, "On-Device Training Under 256KB Memory": each choice (the bias of a layer, the weights of a share of its input
channels) is tried out on the user's data for some steps, and what it takes off the loss of other samples is its contribution. The
memory of a set of choices is that of the planner of generated C. The search adds what contributes most for its bytes, given what
is chosen already.
"""
