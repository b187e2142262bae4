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

	"krigo watch sales.krigo autumn.csv --ledger sales.ledger": {status: 3},
}
