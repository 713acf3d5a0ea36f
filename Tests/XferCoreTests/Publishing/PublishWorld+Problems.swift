import XferModel

/// Compares what the tasks say of themselves with the directory, once all has ended. It shares no code with what it
/// judges.
extension PublishWorld {
    var problems: [String] {
        var problems = complaints
        var publishers: [String: [Int]] = [:]
        for (number, task) in tasks.enumerated() {
            guard let end = task.end else {
                problems.append("task \(number) does not end")
                continue
            }
            if endCounts[number] != 1 { problems.append("task \(number) ends \(endCounts[number]) times") }
            if case .published(let name) = end { publishers[name, default: []].append(number) }
        }
        let replaces = { (task: Int) in tasks[task].policy == .overwrite }
        for (name, numbers) in publishers {
            let owner = disk.names[name].flatMap { disk.owners[$0] }
            if !numbers.contains(where: { $0 + 1 == owner }) { problems.append("\(name) is not of \(numbers)") }
            let limit = 1 + removalCounts[name, default: 0]
            if numbers.filter({ !replaces($0) }).count > limit { problems.append("\(name) was given to \(numbers)") }
        }
        for (name, file) in disk.names {
            let owner = disk.owners[file] ?? 0
            if owner == 0 { problems.append("\(name) has lost its content") }
            if owner > 0, publishers[name]?.contains(owner - 1) != true { problems.append("\(name) is left over") }
        }
        for (name, file) in others where disk.names[name] != file {
            if publishers[name]?.contains(where: replaces) != true { problems.append("another's \(name) is gone") }
        }
        return problems
    }
}
