// Package fit decides how a model is trained from a table and options, trains it, and certifies it.
//
// A fit goes one way, and so do its files, each naming only those before it: errors, params, checkpoint, options;
// check, defaults; data (rows get their roles, are scaled, and become a training set); family (the kernels and means
// that are tried, and what choosing costs); bind (options become a method, bound to rows); solver, starts, inducing
// (where training starts from); log (what runs tell and keep); train, alpha, coarse; certify (a posterior becomes a
// model); free, grid, informed (the three orders in which all this is done); fit on top, and plan, which only decides. evaluate goes the same way
// without training; asked and refit hold a model against the options that it says it was fitted with.
package fit
