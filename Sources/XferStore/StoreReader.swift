/// What can be read from the database: a snapshot in `TaskStore.read`, the transaction so far in `TaskStore.write`.
///
/// Valid only within the closure it is given to. The queries are in extensions, one file per concept.
public class StoreReader {
}

/// A `StoreReader` that can also change the database.
public final class StoreTransaction: StoreReader {
}
