#pragma once
// What <spawn.h> shows only under _GNU_SOURCE, which Swift's module of Glibc was built without. Declared under names of
// our own, without including the header: whoever includes it owns its types in Swift's eyes.
#include <sys/syscall.h>

// posix_spawn_file_actions_addclosefrom_np(3): a child gets no descriptor it was not given.
extern int xfer_spawn_close_from(void *actions, int lowest) __asm__("posix_spawn_file_actions_addclosefrom_np");

// posix_spawn_file_actions_addchdir_np(3): the child's working directory.
extern int xfer_spawn_change_directory(void *actions, const char *path)
    __asm__("posix_spawn_file_actions_addchdir_np");

// POSIX_SPAWN_SETSID hides behind _GNU_SOURCE: the child leads a session, and so a process group, of its own, and has no
// terminal.
enum { XFER_SPAWN_SETSID = 0x80 };

long syscall(long number, ...);

// pidfd_open(2): a descriptor that poll(2) finds readable once the process has ended. Close-on-exec always.
static inline int xfer_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0U); }

// memfd_create(2) hides behind _GNU_SOURCE: a file in memory, gone when its last descriptor is closed.
static inline int xfer_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */);
}
