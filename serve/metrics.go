package serve

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics holds the figures of one server for Prometheus, in their own registry.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rows     *prometheus.CounterVec
	batches  *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
	models   prometheus.Gauge
}

// newMetrics returns the server's metrics, with Go's and the process's own.
func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "krigo_requests_total",
			Help: "Requests answered, by route and status; 499: the client went away."},
			[]string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "krigo_request_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15)}, []string{"route"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "krigo_predicted_rows_total",
			Help: "Rows predicted."}, []string{"model"}),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "krigo_batch_rows",
			Help: "Rows predicted together.", Buckets: prometheus.ExponentialBuckets(1, 2, 10)},
			[]string{"model"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "krigo_model_files_total",
			Help: "Model files that were loaded, reloaded or removed, or couldn't be read."},
			[]string{"result"}),
		models: prometheus.NewGauge(prometheus.GaugeOpts{Name: "krigo_models",
			Help: "Models that are served."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.rows, m.batches, m.reloads, m.models,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// outcomes collects the figures of the models' watches when Prometheus asks.
// They come from the ledger, so that they go on when the server restarts.
type outcomes struct{ library *library }

var (
	outcomeRows   = byModel("krigo_outcomes", "Outcomes in the ledger.")
	outcomeMisses = byModel("krigo_outcome_misses", "Outcomes that the prediction missed; for "+
		"graded losses, the sum of losses.")
	outcomeRisk = byModel("krigo_outcome_risk_at_least",
		"Lower limit of the risk, at any time with the certificate's confidence.")
	certifiedRisk   = byModel("krigo_certified_risk", "The certificate's bound on the risk.")
	outcomeEvidence = byModel("krigo_outcome_log_e", "Evidence that the risk is above the "+
		"certificate's bound, ln E.")
	outcomeAlarm = byModel("krigo_outcome_alarm", "1 after an alarm, else 0.")
)

// byModel describes a metric that has a value for each model.
func byModel(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"model"}, nil)
}

// Describe implements prometheus.Collector.
func (o outcomes) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{outcomeRows, outcomeMisses, outcomeRisk, certifiedRisk,
		outcomeEvidence, outcomeAlarm} {
		to <- d
	}
}

// Collect implements prometheus.Collector. It reads every watched model's state at the time of the
// scrape, so that a model that is gone leaves no figures.
func (o outcomes) Collect(to chan<- prometheus.Metric) {
	for name, m := range *o.library.models.Load() {
		if m.watch == nil {
			continue
		}
		s := m.watch.State()
		gauge := func(d *prometheus.Desc, v float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		gauge(outcomeRows, float64(s.Rows))
		gauge(outcomeMisses, s.Misses)
		gauge(outcomeRisk, s.AtLeast)
		gauge(certifiedRisk, s.Bound)
		gauge(outcomeEvidence, s.LogE)
		alarm := 0.
		if s.Alarm != nil {
			alarm = 1
		}
		gauge(outcomeAlarm, alarm)
	}
}
