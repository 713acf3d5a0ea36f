import CoreMetrics
import Testing
import XferModel
import XferTestSupport

@testable import XferDaemon
@testable import XferManager

@Suite struct PrometheusRegistryTests {
    private static let hits = MetricFamily(
        .counter, "hits_total", "Hits\nof hosts.", labels: [.any("host", upTo: 2)], isPrivate: true)
    private static let active = MetricFamily(.gauge, "active", "What is active.")
    private static let commit = MetricFamily(
        .histogram, "commit_seconds", "Commits.", labels: [.one("db", of: ["main"])], bounds: [0.001, 0.05, 1])
    private let registry = PrometheusRegistry(families: [hits, active, commit])

    private func refused(_ count: Int) -> String {
        """
        # HELP xferd_metrics_refused_series_total Series that were left out, because there were too many.
        # TYPE xferd_metrics_refused_series_total counter
        xferd_metrics_refused_series_total \(count)

        """
    }

    @Test func countersOnlyGrowAndSeriesAreSorted() {
        Self.hits.counter("b", factory: registry).increment(by: 3)
        Self.hits.counter("a \"x\"", factory: registry).increment()
        Self.hits.counter("b", factory: registry).increment(by: -1)
        #expect(
            registry.render() == """
                # HELP hits_total Hits\\nof hosts.
                # TYPE hits_total counter
                hits_total{host="a \\"x\\""} 1
                hits_total{host="b"} 3

                """ + refused(0))
    }

    @Test func metersAndNonAggregatingRecordersAreGauges() {
        let meter = Meter(label: "active", factory: registry)
        meter.set(4)
        meter.decrement(by: 1.5)
        #expect(registry.render().hasPrefix("# HELP active What is active.\n# TYPE active gauge\nactive 2.5\n"))
        Gauge(label: "active", factory: registry).record(1 << 40)
        #expect(registry.render().contains("\nactive 1099511627776\n"))
    }

    @Test func timersAreHistogramsInSecondsWithCumulativeBuckets() {
        let timer = Timer(label: "commit_seconds", dimensions: [("db", "main")], factory: registry)
        timer.recordMilliseconds(1)
        timer.recordMilliseconds(20)
        timer.recordSeconds(100)
        #expect(
            registry.render().split(separator: "\n").prefix(8) == [
                "# HELP commit_seconds Commits.", "# TYPE commit_seconds histogram",
                "commit_seconds_bucket{db=\"main\",le=\"0.001\"} 1",
                "commit_seconds_bucket{db=\"main\",le=\"0.05\"} 2", "commit_seconds_bucket{db=\"main\",le=\"1\"} 2",
                "commit_seconds_bucket{db=\"main\",le=\"+Inf\"} 3", "commit_seconds_sum{db=\"main\"} 100.021",
                "commit_seconds_count{db=\"main\"} 3",
            ])
    }

    @Test func samplesAreWrittenBesideWhatWasRecorded() {
        var distribution = Distribution(bounds: [1])
        distribution.record(0.5)
        distribution.record(.nan)
        let text = registry.render([Self.active.sample(Int64(7)), Self.commit.sample(distribution, "main")])
        #expect(text.contains("\nactive 7\n") && text.contains("\ncommit_seconds_count{db=\"main\"} 1\n"))
    }

    @Test func seriesBeyondADeclaredLimitAreCountedAndNotKept() {
        for host in ["a", "b", "c", "d"] { Self.hits.counter(host, factory: registry).increment() }
        Self.hits.counter("a", factory: registry).increment()
        let text = registry.render()
        #expect(text.contains("hits_total{host=\"a\"} 2\nhits_total{host=\"b\"} 1\n# HELP"))
        #expect(text.hasSuffix(refused(2)))
        let samples = ["x", "y", "z"].map { Self.hits.sample(Int64(1), $0) }
        #expect(PrometheusRegistry(families: [Self.hits]).render(samples).hasSuffix(refused(1)))
    }

    @Test func aMetricThatIsNotDeclaredIsRefused() {
        Counter(label: "misses_total", factory: registry).increment()
        Counter(label: "active", factory: registry).increment()
        Counter(label: "hits_total", dimensions: [("url", "/")], factory: registry).increment()
        #expect(registry.render() == refused(3))
    }

    @Test func namesOfUsersThingsAreLeftOutForOthers() {
        Self.hits.counter("secret.test", factory: registry).increment()
        #expect(!registry.render(showsNames: false).contains("hits_total"))
    }

    @Test func aDestroyedSeriesMakesRoom() {
        let counters = ["a", "b"].map { Self.hits.counter($0, factory: registry) }
        counters[0].destroy()
        Self.hits.counter("c", factory: registry).increment()
        let text = registry.render()
        #expect(text.contains("hits_total{host=\"b\"} 0\nhits_total{host=\"c\"} 1\n") && text.hasSuffix(refused(0)))
    }

    @Test func theHostsThatFailedLastAreKept() {
        let hosts = RecentCounters(Self.hits, limit: 2, factory: registry)
        for host in ["a", "b", "a", "c", "b"] { hosts.increment(host) }
        let text = registry.render()
        #expect(text.contains("hits_total{host=\"b\"} 1\nhits_total{host=\"c\"} 1\n") && text.hasSuffix(refused(0)))
    }

    @Test func theServicesMetricsPassPromtoolsRules() {
        let registry = PrometheusRegistry()
        let metrics = ServiceMetrics(factory: registry)
        metrics.onTraffic(Traffic(received: 3, sent: 4))
        let samples = Metric.all.filter { $0.kind == .gauge }.map { family in
            MetricSample(family: family, labels: family.labels.map { $0.values.first ?? "x" }, value: .number(1))
        }
        let text = registry.render(samples)
        #expect(PrometheusLint.problems(in: text) == [])
        #expect(text.contains("\nxferd_received_bytes_total 3\n") && text.contains("\nxferd_sent_bytes_total 4\n"))
        #expect(text.hasSuffix(" 1\n") && text.contains("\nxferd_metrics_refused_series_total 0\n"))
    }

    @Test func everyMetricIsDeclaredOnceWithABoundOnItsSeries() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        for family in Metric.all {
            #expect(family.seriesLimit <= 500 && !family.help.isEmpty, "\(family.name)")
            #expect((family.kind == .histogram) == !family.bounds.isEmpty, "\(family.name)")
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
        }
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

    @Test func labelsAreMadeValidAndValuesEscaped() {
        let labels = PrometheusText.labels([("the-path", "C:\\a \"b\"\nc é"), ("1st", "x"), ("a:b", "y"), ("1st", "z")])
        #expect(labels == "_1st=\"x\",a_b=\"y\",the_path=\"C:\\\\a \\\"b\\\"\\nc é\"")
    }

    @Test func infinityAndNaNAreWrittenByName() {
        #expect(PrometheusText.number(.nan) == "NaN")
        #expect(PrometheusText.number(.infinity) == "+Inf")
        #expect(PrometheusText.number(-.infinity) == "-Inf")
        #expect(PrometheusText.number(1e300) == "1e+300")
        #expect(PrometheusText.number(-3) == "-3")
    }
}
