/// What is known of the connection that carries a hop's request.
///
/// Invariant: after libcurl has reported a connection, all but `handshakes` and `admission` is about that connection
/// and no earlier one.
struct HopConnection {
    var handshakes = Handshakes()
    var admission = ConnectionAdmission()
    /// Whether the server has sent anything over the present connection.
    var hasHeard = false
    /// Whether unread bytes waited on a reused connection; see `Hop.isUnclean`.
    var isStale = false
    var hasSecureProxy = false
    /// Keeps received bytes readable after libcurl has closed the socket; see `Hop.hearLastWord`.
    var spare: SpareSocket?
}
