import Testing
import XferModel

/// Which events a webhook gets.
@Suite struct WebhookFilterTests {
    private func specification(group: String?, label: String?) -> TaskSpecification {
        TaskSpecification(
            owner: Owner(uid: 1000),
            request: TransferRequest(url: HTTPURL(scheme: .https, host: "h.test", port: 443, target: "/")),
            destination: Destination(directory: "/"), group: group, label: label)
    }

    @Test func anEventHasToSatisfyEveryCondition() {
        let task = specification(group: "g", label: "l")
        let owner = Owner(uid: 1000)
        #expect(WebhookFilter().admits(owner: nil, task: nil))
        #expect(WebhookFilter(groups: ["g", "h"], labels: ["l"], owners: [owner]).admits(owner: owner, task: task))
        #expect(!WebhookFilter(groups: ["h"], labels: ["l"]).admits(owner: owner, task: task))
        #expect(!WebhookFilter(groups: ["g"], labels: ["m"]).admits(owner: owner, task: task))
        #expect(!WebhookFilter(owners: [Owner(uid: 1)]).admits(owner: owner, task: task))
        // A filter of users that do not exist admits nothing.
        #expect(!WebhookFilter(owners: []).admits(owner: owner, task: task))
    }

    @Test func anEventWithoutATaskSatisfiesNoConditionOnTasks() {
        #expect(!WebhookFilter(groups: ["g"]).admits(owner: nil, task: nil))
        #expect(!WebhookFilter(labels: ["l"]).admits(owner: nil, task: nil))
        #expect(!WebhookFilter(owners: [Owner(uid: 0)]).admits(owner: nil, task: nil))
        #expect(!WebhookFilter(groups: ["g"]).admits(owner: nil, task: specification(group: nil, label: nil)))
    }

    @Test func withoutAWebhookThatFollowsEventsThereAreNoSubscriptions() {
        let url = HTTPURL(scheme: .https, host: "h.test", port: 443, target: "/")
        #expect(WebhookSubscriptions([]) == nil)
        #expect(WebhookSubscriptions([WebhookDefinition(name: "named", url: url, events: [])]) == nil)
        let subscriptions = WebhookSubscriptions([
            WebhookDefinition(name: "ends", url: url),
            WebhookDefinition(name: "adds", url: url, events: [.taskAdded, .taskFailed]),
        ])
        #expect(subscriptions?.followers(of: .taskFailed).map(\.name) == ["ends", "adds"])
        #expect(subscriptions?.followers(of: .taskSuperseded).map(\.name) == ["ends"])
        #expect(subscriptions?.followers(of: .taskAdded).map(\.name) == ["adds"])
        #expect(subscriptions?.followers(of: .daemonStarted) == [])
    }
}
