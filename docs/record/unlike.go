package main

// unlike lists the commands of the documentation that can't run unchanged, and what is run instead.
var unlike = map[string]struct {
	instead string // the command that is run instead: on less data, or on a table made for the test
	stdin   string // the file that the command before the pipe would print
	status  int    // the expected exit status
}{
	"krigo inspect houses.csv --target price": {instead: "krigo inspect messy.csv --target price"},
	"krigo fit houses.csv --target price --ignore id --dates sold:year --decimal , --thousands . --units m² --na k.A. " +
		"--missing mean": {
		instead: "krigo fit messy.csv --target price --ignore id --dates sold:year --decimal , --thousands . --units m² " +
			"--na k.A. --missing mean"},
	"krigo fit houses.csv --target price --categorical zone,heating --missing mean": {
		instead: "krigo fit zones.csv --target price --categorical zone,heating --missing mean"},
	"sqlite3 -header -csv sales.db 'select * from houses' | krigo fit - --target price --out " +
		"houses.krigo": {stdin: "houses.csv"},
	"tail -f outcomes.csv | krigo watch houses.krigo -": {stdin: "sold.csv"},
	"krigo fit houses.csv --target price --slices zone --categorical zone": {
		instead: "krigo fit zones.csv --target price --slices sd --categorical zone,heating --prior-share 0.45"},

	// Unchanged, these commands try six kernels on a thousand rows or more.
	"krigo fit electricity.csv --target kW --dates time:day:week --split last": {
		instead: "krigo fit electricity.csv --target kW --dates time:day:week --split last --dry-run"},
	"krigo fit electricity.csv --target kW --dates time:day:week --group block:time:7d --prior informed": {
		instead: "krigo fit electricity.csv --target kW --dates time:day:week --group block:time:7d --prior informed --dry-run"},

	// Without --refit, certify doesn't train again if training took more than a minute, as it may on a busy machine.
	"krigo certify sales.krigo sales.csv --declaration declaration.json": {
		instead: "krigo certify sales.krigo sales.csv --declaration declaration.json --refit"},
	"krigo certify branin.krigo branin.csv":        {instead: "krigo certify branin.krigo branin.csv --refit"},
	"krigo certify backtest.krigo electricity.csv": {instead: "krigo certify backtest.krigo electricity.csv --refit"},

	// The papers' commands, on a small table and with small settings.
	"krigo fit big.csv --target y --objective kl-pac --inducing 500 --ard on --scaling all-rows --test-fraction 0.2": {
		instead: "krigo fit big.csv --target y --objective kl-pac --inducing 20 --ard on --scaling all-rows --test-fraction 0.2"},
	"krigo fit big.csv --target y --objective renyi --alpha cv --alphas 0.3,0.4,0.5,0.6,0.7 --inducing 100 --ard on " +
		"--optimizer mma --scaling all-rows --test-fraction 0.4": {
		instead: "krigo fit big.csv --target y --objective renyi --alpha cv --alphas 0.3,0.4,0.5,0.6,0.7 --inducing 10 --ard on " +
			"--optimizer mma --scaling all-rows --test-fraction 0.4 --epochs 9"},
	"krigo fit big.csv --target y --objective renyi --kernel matern32 --inducing 1024 --ard on --optimizer sgd " +
		"--batches uniform --batch 1024 --anneal-share 1 --epochs 100 --scaling all-rows --test-fraction 0.4": {
		instead: "krigo fit big.csv --target y --objective renyi --kernel matern32 --inducing 10 --ard on --optimizer sgd " +
			"--batches uniform --batch 30 --anneal-share 1 --epochs 9 --scaling all-rows --test-fraction 0.4"},
	"krigo compare data/boston.csv.gz --target MEDV --objectives kl-pac,sqrt-pac,evidence --epsilon 0.2,0.4,0.6,0.8,1 " +
		"--splits 10 --ard off --scaling all-rows --restarts 1": {
		instead: "krigo compare big.csv --target y --objectives kl-pac,sqrt-pac,evidence --epsilon 0.2,0.4,0.6,0.8,1 " +
			"--splits 1 --ard off --scaling all-rows --restarts 1"},
	"krigo compare pol.csv --target y --objectives kl-pac,sqrt-pac,vfe,fitc --posterior fitc --inducing 500 --ard on " +
		"--splits 10 --scaling all-rows --restarts 1": {
		instead: "krigo compare big.csv --target y --objectives kl-pac,sqrt-pac,vfe,fitc --posterior fitc --inducing 10 --ard on " +
			"--splits 1 --scaling all-rows --restarts 1"},
	"krigo compare bike.csv --target cnt --objectives evidence,vfe,pep --inducing 100 --ard on --optimizer mma --splits 20 " +
		"--test-fraction 0.4 --scaling all-rows": {
		instead: "krigo compare big.csv --target y --objectives evidence,vfe,pep --inducing 10 --ard on --optimizer mma --splits 1 " +
			"--test-fraction 0.4 --scaling all-rows --epochs 9"},
	"krigo compare bike.csv --target cnt --objectives renyi,svgp,pep --kernel matern32 --inducing 1024 --ard on --batches uniform " +
		"--batch 1024 --anneal-share 1 --epochs 100 --splits 30 --test-fraction 0.4 --scaling all-rows": {
		instead: "krigo compare big.csv --target y --objectives renyi,svgp,pep --kernel matern32 --inducing 10 --ard on " +
			"--batches uniform --batch 30 --anneal-share 1 --epochs 9 --splits 1 --test-fraction 0.4 --scaling all-rows"},
	"krigo compare bike.csv --target cnt --objectives evidence --kernel matern32 --ard on --optimizer sgd --batches uniform " +
		"--batch 64 --learning-rate 0.01 --epochs 100 --splits 30 --test-fraction 0.4 --scaling all-rows": {
		instead: "krigo compare big.csv --target y --objectives evidence --kernel matern32 --ard on --optimizer sgd " +
			"--batches uniform --batch 30 --learning-rate 0.01 --epochs 9 --splits 1 --test-fraction 0.4 --scaling all-rows"},

	"krigo watch sales.krigo autumn.csv --ledger sales.ledger": {status: 3},
}
