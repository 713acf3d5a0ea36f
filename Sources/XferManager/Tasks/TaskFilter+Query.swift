public import XferModel
public import XferProtocol

extension TaskFilter {
    /// The filter as a query for the store.
    public var stored: TaskQuery {
        var query = TaskQuery(
            states: state?.values, kinds: kind?.values, groups: group?.values, labels: label?.values,
            owners: owner?.values, hosts: host?.values.map { HostSelector($0) }, ids: ids?.values, slots: slot?.values,
            batches: batch?.values)
        query.clientKeys = clientKey?.values
        query.reasons = reason?.values
        query.urlPrefix = urlPrefix
        query.created = TaskQuery.TimeRange(from: createdFrom, before: createdBefore)
        query.finished = TaskQuery.TimeRange(from: finishedFrom, before: finishedBefore)
        return query
    }
}
