#pragma once
#include <sqlite3.h>

// sqlite3_config and sqlite3_db_config are variadic, which Swift cannot call: one wrapper for each use.

// Memory is not counted any more: the counting takes a lock of the whole process for every piece. Before the first
// connection; later it is refused, and costs no more than time.
static inline int xfer_sqlite_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// A connection that is closed last leaves the write-ahead log as it is.
static inline int xfer_sqlite_keep_log_at_close(sqlite3 *connection, int keeps) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

// Keeps `count` pieces of `size` bytes at hand for what a connection needs for moments. Before its first statement.
static inline int xfer_sqlite_keep_memory(sqlite3 *connection, int size, int count) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}
