#pragma once
#include <stdbool.h>
#include <stdint.h>

// What a process that a fatal signal ends leaves behind: which tasks were in flight.
//
// C and not Swift, because the handler may only do what signal-safety(7) lists: it allocates nothing, takes no lock and
// calls nothing of Swift's runtime.

// First bytes of a record: "xfercrsh" in ASCII, little-endian.
static const int64_t xfer_crash_magic = 0x6873726372656678;
// Words before the ids: the magic, the signal, the process id, nanoseconds since 1970, how many ids follow.
#define XFER_CRASH_HEADER_WORDS 5

// Stores a task's id in a slot; 0 empties it. The slots are read by the handler at any moment.
static inline void xfer_crash_store(int64_t *slot, int64_t id) { __atomic_store_n(slot, id, __ATOMIC_RELEASE); }

// From now on SIGILL, SIGTRAP, SIGSEGV, SIGBUS and SIGABRT write the ids in `slots` to `descriptor`, from its beginning,
// then call the handler that was there, if any, and end the process as they would have, with a core dump for example.
//
// To be called once in a process. `slots` and `descriptor` are the handler's for ever. `record` has room for
// XFER_CRASH_HEADER_WORDS + `count` words. False if the system refuses, errno says why.
bool xfer_crash_record_to(int descriptor, const int64_t *slots, int count, int64_t *record);

// Gives the calling thread a stack for the handler, unless it has one: a thread whose own stack is used up has no room
// to run it. Cheap when called again. The stack is given back when the thread ends.
void xfer_crash_prepare_thread(void);
