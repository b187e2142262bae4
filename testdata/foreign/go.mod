module example.com/foreign

go 1.26.0

require (
	github.com/krigo-gp/krigo v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/krigo-gp/krigo => ../..
