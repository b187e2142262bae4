package main

import (
	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/posterior"
)

// trial is one way to fit one kind of sets.
type trial struct {
	*design
	name     string
	o        krigo.Options
	controls bool // also tries statements that krigo doesn't make
	open     bool // no ε is asked for, so the certificate is a table of widths
}

// String returns the trial's name.
func (tr trial) String() string { return tr.design.name + ": " + tr.name }

// trials are the objectives and kinds of priors, with few evaluations, since a bound has to hold wherever training
// ends. For other kinds of sets, which are about the rows, the two kinds of priors are enough.
var trials = []trial{
	{design: independent, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: independent, name: "sqrt-pac", o: krigo.Options{Method: krigo.Method{Name: method.SqrtPACName}}},
	{design: independent, name: "evidence", o: krigo.Options{Method: krigo.Method{Name: method.EvidenceName}}},
	{design: independent, name: "vfe", o: krigo.Options{Method: krigo.Method{Name: method.VFEName}}},
	{design: independent, name: "dtc", o: krigo.Options{Method: krigo.Method{Name: method.DTCName}}},
	{design: independent, name: "fitc", o: krigo.Options{Method: krigo.Method{Name: method.FITCName}}},
	{design: independent, name: "pep", o: krigo.Options{Method: krigo.Method{Name: method.PEPName}}},
	{design: independent, name: "svgp", o: krigo.Options{Method: krigo.Method{Name: method.SVGPName, Batch: 25}}},
	{design: independent, name: "renyi", o: krigo.Options{Method: krigo.Method{Name: method.RenyiName}}},
	{design: independent, name: "kl-pac mixed grid", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName},
		Prior: krigo.Prior{Mixed: true}}},
	{design: independent, name: "kl-pac free",
		o: krigo.Options{Method: krigo.Method{Name: method.KLPACName, Inducing: trialInducing, Posterior: "free"}}},
	{design: independent, name: "informed evidence", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Method: krigo.Method{Name: method.EvidenceName}}, controls: true},
	{design: independent, name: "default", o: krigo.Options{Prior: krigo.Prior{Kind: "informed"},
		Kernel: krigo.Kernel{ARD: "off"}}},
	{design: independent, name: "without ε", o: krigo.Options{Prior: krigo.Prior{Kind: "informed"}}, open: true},
	{design: independent, name: "informed nearest", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Method: krigo.Method{Name: method.NearestName}}},
	{design: independent, name: "informed cg", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Method: krigo.Method{Name: method.EvidenceName, Solver: posterior.ByCG}}},
	{design: independent, name: "informed vfe", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Method: krigo.Method{Name: method.VFEName}}},
	{design: independent, name: "informed kl-pac", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.5},
		Method: krigo.Method{Name: method.KLPACName}}},
	{design: independent, name: "informed learnt",
		o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.3, Learn: true},
			Method: krigo.Method{Name: method.EvidenceName}}},
	{design: independent, name: "informed learnt sparse",
		o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.3, Learn: true, Temper: []float64{1, 0.1}},
			Method: krigo.Method{Name: method.VFEName}}},
	{design: independent, name: "informed free", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.3},
		Method: krigo.Method{Name: method.VFEName, Posterior: "free"}}},
	{design: logNormal, name: "default", o: krigo.Options{Prior: krigo.Prior{Kind: "informed"},
		Data: krigo.Data{Transform: "auto"}}},
	{design: logNormal, name: "boxcox, median", o: krigo.Options{Prior: krigo.Prior{Kind: "informed"},
		Data: krigo.Data{Transform: "boxcox", Estimate: dataset.Median}}},
	{design: byTarget, name: "default", controls: true},
	{design: byTarget, name: "without ε", open: true},
	{design: byTarget, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: byInput, name: "default", controls: true},
	{design: byInput, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: discrete, name: "default", controls: true},
	{design: discrete, name: "informed evidence", o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.4},
		Method: krigo.Method{Name: method.EvidenceName}}},
	{design: discrete, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName},
		Prior: krigo.Prior{Share: 0.5}}},
	{design: inGroups, name: "informed", o: groupOptions, controls: true},
	{design: inGroups, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: inGroups, name: "informed learnt",
		o: krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.3, Learn: true},
			Method: krigo.Method{Name: method.EvidenceName}}},
	{design: inPlaces, name: "informed", o: groupOptions, controls: true},
	{design: inPlaces, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: bySize, name: "informed", o: groupOptions, controls: true},
	{design: bySize, name: "kl-pac", o: krigo.Options{Method: krigo.Method{Name: method.KLPACName}}},
	{design: labelled, name: "informed", o: groupOptions},
	{design: inBlocks, name: "informed", o: groupOptions, controls: true},
}

// groupOptions leave most groups to certify.
var groupOptions = krigo.Options{Prior: krigo.Prior{Kind: "informed", Share: 0.3},
	Method: krigo.Method{Name: method.EvidenceName}}
