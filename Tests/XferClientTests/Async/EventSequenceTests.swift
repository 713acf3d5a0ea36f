import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferClient

extension ScriptedServer.Peer {
    fileprivate func event(_ seq: Int64, _ type: String = "task.removed") {
        write(
            #"{"jsonrpc":"2.0","method":"event","params":{"seq":\#(seq),"time":"2026-01-02T03:04:05Z","type":"\#(type)","task_id":1,"owner":0}}"#
                + "\n")
    }

    /// Answers the subscription, and gives the position that was asked for.
    fileprivate func subscribe(lastSeq: Int64 = 9, firstSeq: Int64? = nil) -> Int64? {
        let line = readLine() ?? ""
        var result: JSONObject = ["subscription": 1, "last_seq": .integer(lastSeq)]
        if let firstSeq {
            result["gap"] = true
            result["first_seq"] = .integer(firstSeq)
        }
        answer(2, .object(result))
        return (try? JSONValue(parsing: Array(line.utf8)))?["params"]?["since"]?.integerValue
    }
}

/// Events over lost connections, against scripted daemons.
struct EventSequenceTests {
    @Test func aLostConnectionIsMadeAgainAndNoEventComesTwice() async throws {
        let positions = NIOLockedValueBox<[Int64?]>([])
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            let since = peer.subscribe()
            positions.withLockedValue { $0.append(since) }
            if since == nil {
                peer.event(10)
                return
            }
            for number in 10...12 { peer.event(Int64(number)) }
            peer.awaitClose()
        }
        let events = try await TransferClient(.socket(server.path)).events()
        #expect(await events.position == EventPosition(seq: 9, storeID: "first"))
        var found: [Int64?] = []
        for try await event in events {
            found.append(event.seq)
            if found.count == 3 { break }
        }
        #expect(found == [10, 11, 12])
        #expect(await events.position == EventPosition(seq: 12, storeID: "first"))
        #expect(positions.withLockedValue(\.self) == [nil, 10])
    }

    @Test func lostEventsAreReportedOnceAndTheKeptOnesFollow() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.subscribe(firstSeq: 7)
            peer.event(7)
            peer.awaitClose()
        }
        let events = try await TransferClient(.socket(server.path)).events(since: EventPosition(seq: 3))
        var iterator = events.makeAsyncIterator()
        await #expect(throws: EventsLostError(since: 3, firstSeq: 7)) { try await iterator.next() }
        #expect(try await iterator.next()?.seq == 7)
    }

    @Test func fromTheOldestEventOnNoneIsLost() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.subscribe(firstSeq: 7)
            peer.event(7)
            peer.awaitClose()
        }
        var iterator = try await TransferClient(.socket(server.path)).events(since: .oldest).makeAsyncIterator()
        #expect(try await iterator.next()?.seq == 7)
    }

    @Test func anOverflowGoesOnAfterTheLastEvent() async throws {
        let server = try ScriptedServer(connections: 2) { peer in
            peer.greet()
            if peer.subscribe() == 10 {
                peer.event(11)
            } else {
                peer.event(10)
                peer.write(
                    #"{"jsonrpc":"2.0","method":"event","params":{"time":"2026-01-02T03:04:05Z","type":"events.overflow","last_seq":10}}"#
                        + "\n")
            }
            peer.awaitClose()
        }
        var iterator = try await TransferClient(.socket(server.path)).events().makeAsyncIterator()
        #expect(try await iterator.next()?.seq == 10)
        #expect(try await iterator.next()?.seq == 11)
    }

    @Test func anotherDatabaseEndsTheIteration() async throws {
        let count = NIOLockedValueBox(0)
        let server = try ScriptedServer(connections: 2) { peer in
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            peer.greet(store: number == 1 ? "first" : "second")
            if number == 1 { _ = peer.subscribe() } else { peer.awaitClose() }
        }
        var iterator = try await TransferClient(.socket(server.path)).events().makeAsyncIterator()
        await #expect(throws: StoreChangedError(expected: "first", found: "second")) { try await iterator.next() }
    }

    @Test func aPositionOfAnotherDatabaseIsRefused() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            peer.awaitClose()
        }
        let client = TransferClient(.socket(server.path))
        await #expect(throws: StoreChangedError(expected: "other", found: "first")) {
            try await client.events(since: EventPosition(seq: 3, storeID: "other"))
        }
    }

    @Test func aCancelledIterationLosesNoEvent() async throws {
        let isCancelled = Gate()
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.subscribe()
            // The event comes after the first reader has ended.
            isCancelled.block()
            peer.event(10)
            peer.awaitClose()
        }
        let events = try await TransferClient(.socket(server.path)).events()
        let reading = Task { try await events.first { _ in true } }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        isCancelled.open()
        #expect(try await events.first { _ in true }?.seq == 10)
    }

    @Test func aDaemonThatStaysAwayEndsTheIteration() async throws {
        let isRemoved = Gate()
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.subscribe()
            isRemoved.block()
        }
        var options = TransferClient.Options()
        options.reconnectLimit = .milliseconds(100)
        var iterator = try await TransferClient(.socket(server.path), options: options).events().makeAsyncIterator()
        unlink(server.path)
        isRemoved.open()
        await #expect(throws: NoDaemonError.self) { try await iterator.next() }
    }

    @Test func aFullBufferStopsReadingUntilItIsReadEmpty() async throws {
        let buffer = NotificationBuffer()
        let note = Notification(method: "event", params: 1)
        for _ in 0..<255 { buffer.append(note) }
        #expect(buffer.isReading)
        buffer.append(note)
        #expect(!buffer.isReading)
        for _ in 0..<192 { _ = try await buffer.next() }
        #expect(!buffer.isReading)
        _ = try await buffer.next()
        #expect(buffer.isReading)
        buffer.end(.closed)
        for _ in 0..<63 { _ = try await buffer.next() }
        await #expect(throws: CallError.connection(.closed)) { try await buffer.next() }
    }

    /// Many times what the buffer and the socket hold: the scripted daemon blocks until the client reads.
    @Test func aReaderThatPausesGetsEveryEvent() async throws {
        let server = try ScriptedServer { peer in
            peer.greet()
            _ = peer.subscribe()
            for number in 10..<20_010 { peer.event(Int64(number)) }
            peer.awaitClose()
        }
        let events = try await TransferClient(.socket(server.path)).events()
        var next: Int64 = 10
        for try await event in events {
            try #require(event.seq == next)
            next += 1
            if next == 20_010 { break }
        }
        #expect(next == 20_010)
    }
}
