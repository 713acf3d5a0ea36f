/// Tells a connection's handlers that the server shuts down: they answer the requests that have begun, begin no others,
/// and close.
///
/// NIO's `ChannelShouldQuiesceEvent` cannot be used: its HTTP pipeline handler does not pass it on, so a stream would
/// never end.
struct FinishEvent: Sendable {}
