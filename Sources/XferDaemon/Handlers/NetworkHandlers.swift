import XferManager
import XferModel
import XferProtocol

/// The handler of `network.status`. Every caller may use it, because any local process can read this information.
struct NetworkHandlers: Sendable {
    let network: NetworkFollower

    var all: [Handler] { [Handler(NetworkStatus.self, status)] }

    private func status(_ params: NetworkStatus.Params, _: CallContext) async throws -> NetworkStatus.Result {
        let report = network.report()
        var result = NetworkStatus.Result()
        result.state = OpenEnum(report.state)
        result.monitored = report.isMonitored
        result.interfaces = report.interfaces.map { interface in
            var record = NetworkStatus.Interface()
            record.name = interface.link.name
            record.index = Int(clamping: interface.link.index)
            record.running = interface.link.isRunning
            record.metered = interface.isMetered
            record.defaultRoute = interface.hasDefaultRoute
            record.addresses = interface.addresses.map { "\($0.address)/\($0.prefixLength)" }
            return record
        }
        result.route = params.host.map { host in
            var route = NetworkStatus.Route(host: host)
            guard let destination = IPAddress(host) ?? IPAddress(host: host) else { return route }
            let source = NetworkReport.source(to: destination)
            route.exists = source != nil
            route.source = source?.description
            route.interface = source.flatMap { report.interface(having: $0)?.link.name }
            return route
        }
        return result
    }
}
