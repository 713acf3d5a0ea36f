/// Tells a connection's handlers that the server shuts down: answer what has begun, begin nothing, close.
///
/// Not NIO's `ChannelShouldQuiesceEvent`, which its HTTP pipeline handler keeps to itself: a stream would never end.
struct FinishEvent: Sendable {}
