// Package fit decides how a model is trained from a table and options, trains it, and certifies it.
//
// A fit is four values, none of which changes once it is made:
//
//	dealt    a table whose rows have their roles, scaled (deal); share: the rows of one role, to train on (take)
//	plan     how a share is trained on: families of kernels, a method with every field filled in, inducing inputs (decide)
//	trained  the best of all runs (plan.optimum)
//	model    its posterior on the grid, certified (plan.conclude, dealt.certify)
//
// With a prior on the grid the share is the certified rows. With an informed prior it is the prior rows first, and
// where a posterior is learnt after it the certified ones next, by a plan of its own. What a person should know is said
// by whoever finds it, and handed on.
//
// The files go the same way, each naming only those before it: errors, params, checkpoint, options, check, defaults,
// small; data; family (the kernels and means that are tried, and what choosing costs); log (what runs tell and keep);
// plan, starts, inducing; train, alpha, coarse; certify; grid and informed, the two orders in which all this is done;
// decide, which only says the plan, and fit on top. evaluate goes the same way without training; asked and refit hold a
// model against the options that it says it was fitted with.
package fit
