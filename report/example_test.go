package report_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/report"
)

func ExampleWrite() {
	table := data.Snelson()
	m, err := krigo.Fit(context.Background(), table, krigo.Options{Target: "y", Inducing: 8, TestFraction: 0.2})
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	if err := report.Write(&page, m, table); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(page.String(), "<figure"), "figures")
	// Output:
	// 5 figures
}
