package main

func covariance(g *isa) {}
