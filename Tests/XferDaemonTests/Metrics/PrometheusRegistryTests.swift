import CoreMetrics
import Testing
import XferTestSupport

@testable import XferDaemon
@testable import XferManager

@Suite struct PrometheusRegistryTests {
    private static let refusedHelp =
        "# HELP xferd_metrics_refused_series_total Series that were not kept, because there were too many.\n"
    private let refused =
        refusedHelp + "# TYPE xferd_metrics_refused_series_total counter\nxferd_metrics_refused_series_total 0\n"

    @Test func countersEndInTotalAndOnlyGrow() {
        let registry = PrometheusRegistry(help: ["xferd_tasks_total": "Tasks\nended."])
        Counter(label: "xferd_tasks", dimensions: [("state", "completed")], factory: registry).increment(by: 3)
        Counter(label: "xferd_tasks_total", dimensions: [("state", "failed")], factory: registry).increment()
        FloatingPointCounter(label: "xferd.seconds", factory: registry).increment(by: 1.5)
        FloatingPointCounter(label: "xferd.seconds", factory: registry).increment(by: -1)
        #expect(
            registry.render() == """
                # TYPE xferd_seconds_total counter
                xferd_seconds_total 1.5
                # HELP xferd_tasks_total Tasks\\nended.
                # TYPE xferd_tasks_total counter
                xferd_tasks_total{state="completed"} 3
                xferd_tasks_total{state="failed"} 1

                """ + refused)
    }

    @Test func metersAndNonAggregatingRecordersAreGauges() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "active", factory: registry)
        meter.set(4)
        meter.decrement(by: 1.5)
        Gauge(label: "free_bytes", factory: registry).record(1 << 40)
        #expect(
            registry.render() == """
                # TYPE active gauge
                active 2.5
                # TYPE free_bytes gauge
                free_bytes 1099511627776

                """ + refused)
    }

    @Test func timersAreHistogramsInSecondsWithCumulativeBuckets() {
        let registry = PrometheusRegistry()
        let timer = Timer(label: "commit", dimensions: [("db", "main")], factory: registry)
        timer.recordMilliseconds(1)
        timer.recordMilliseconds(20)
        timer.recordSeconds(100)
        let lines = registry.render().split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(14) == [
                "# TYPE commit_seconds histogram", "commit_seconds_bucket{db=\"main\",le=\"0.001\"} 1",
                "commit_seconds_bucket{db=\"main\",le=\"0.005\"} 1", "commit_seconds_bucket{db=\"main\",le=\"0.01\"} 1",
                "commit_seconds_bucket{db=\"main\",le=\"0.05\"} 2", "commit_seconds_bucket{db=\"main\",le=\"0.1\"} 2",
                "commit_seconds_bucket{db=\"main\",le=\"0.5\"} 2", "commit_seconds_bucket{db=\"main\",le=\"1\"} 2",
                "commit_seconds_bucket{db=\"main\",le=\"5\"} 2", "commit_seconds_bucket{db=\"main\",le=\"10\"} 2",
                "commit_seconds_bucket{db=\"main\",le=\"60\"} 2", "commit_seconds_bucket{db=\"main\",le=\"+Inf\"} 3",
                "commit_seconds_sum{db=\"main\"} 100.021", "commit_seconds_count{db=\"main\"} 3",
            ])
    }

    @Test func theServicesMetricsPassPromtoolsRules() {
        let registry = PrometheusRegistry(help: MetricHelp.texts)
        let metrics = ServiceMetrics(factory: registry)
        metrics.onRunning(2)
        metrics.onTraffic(Traffic(received: 3, sent: 4))
        let text = registry.render()
        #expect(PrometheusLint.problems(in: text) == [])
        #expect(text.contains("\nxferd_received_bytes_total 3\n") && text.contains("\nxferd_sent_bytes_total 4\n"))
    }

    @Test func theMetricsLintFindsTheProblemsOfPromtool() {
        let bad = """
            # TYPE a_total gauge
            a_total 1
            # HELP bee Text.
            # TYPE bee counter
            bee 1
            # HELP c_total Text.
            # TYPE c_total counter
            c_total 1
            c_total 2
            # TYPE c_total counter
            dee 1
            # HELP eFast_ms Text.
            # TYPE eFast_ms gauge
            eFast_ms{le="1"} 1

            """
        #expect(
            PrometheusLint.problems(in: bad) == [
                "a_total: no help text", "a_total: not a counter, but ends in _total", "bee: a counter without _total",
                "c_total: a series twice", "c_total: TYPE twice", "dee: no type", "dee: no help text",
                "eFast_ms: not in snake_case", "eFast_ms: an abbreviated unit", "eFast_ms: a label le",
            ])
    }

    @Test func metricNamesAndLabelsAreMadeValidAndValuesEscaped() {
        let registry = PrometheusRegistry()
        let dimensions = [("the-path", "C:\\a \"b\"\nc é"), ("1st", "x"), ("a:b", "y"), ("1st", "again")]
        Counter(label: "7 odd.näme:x", dimensions: dimensions, factory: registry).increment()
        #expect(
            registry.render().contains(
                "_7_odd_n_me:x_total{_1st=\"x\",a_b=\"y\",the_path=\"C:\\\\a \\\"b\\\"\\nc é\"} 1\n"))
    }

    @Test func infinityAndNaNAreWrittenByName() {
        #expect(PrometheusText.number(.nan) == "NaN")
        #expect(PrometheusText.number(.infinity) == "+Inf")
        #expect(PrometheusText.number(-.infinity) == "-Inf")
        #expect(PrometheusText.number(1e300) == "1e+300")
        #expect(PrometheusText.number(-3) == "-3")
    }

    @Test func seriesBeyondTheLimitAreCountedAndNotKept() {
        let registry = PrometheusRegistry(maxSeries: 2)
        for host in ["a", "b", "c", "d"] {
            Counter(label: "hits", dimensions: [("host", host)], factory: registry).increment()
        }
        Counter(label: "hits", dimensions: [("host", "a")], factory: registry).increment()
        #expect(
            registry.render() == """
                # TYPE hits_total counter
                hits_total{host="a"} 2
                hits_total{host="b"} 1
                \(Self.refusedHelp)# TYPE xferd_metrics_refused_series_total counter
                xferd_metrics_refused_series_total 2

                """)
    }

    @Test func aDestroyedSeriesMakesRoomAndItsNameKeepsItsKind() {
        let registry = PrometheusRegistry(maxSeries: 1)
        let counter = Counter(label: "a", factory: registry)
        Meter(label: "a_total", factory: registry).set(9)
        counter.destroy()
        Meter(label: "b", factory: registry).set(1)
        #expect(
            registry.render() == """
                # TYPE b gauge
                b 1
                \(Self.refusedHelp)# TYPE xferd_metrics_refused_series_total counter
                xferd_metrics_refused_series_total 1

                """)
    }
}
