public import XferProtocol

/// Tasks of a list, fetched page by page. Each iteration begins at the first page.
///
/// A task that matches throughout comes exactly once. Iterating throws the errors of a call.
public struct TaskSequence: AsyncSequence, Sendable {
    public typealias Element = TaskRecord

    let client: TransferClient
    let params: TaskList.Params

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, params: params) }

    public struct Iterator: AsyncIteratorProtocol {
        let client: TransferClient
        /// The parameters of the next page; nil after the last one.
        var params: TaskList.Params?
        /// The rest of the page, the next one last.
        private var rest: [TaskRecord] = []

        init(client: TransferClient, params: TaskList.Params) {
            self.client = client
            self.params = params
        }

        public mutating func next() async throws -> TaskRecord? {
            while rest.isEmpty, var params {
                let page = try await client.call(TaskList.self, params)
                guard page.nextCursor == nil || page.nextCursor != params.cursor else {
                    throw CallError.malformedResult(
                        method: TaskList.name,
                        WireError(.invalidValue, at: "next_cursor", expected: "the cursor of another page"))
                }
                rest = page.tasks.reversed()
                params.cursor = page.nextCursor
                self.params = page.nextCursor == nil ? nil : params
            }
            return rest.popLast()
        }
    }
}
