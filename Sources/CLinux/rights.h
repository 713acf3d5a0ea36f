#pragma once
// Acting with another user's rights in one thread. Made by number: Glibc's setgroups(2) and setfsuid(2) are for the whole
// process, or hidden from Swift.
#include <errno.h>
#include <sys/syscall.h>

long syscall(long number, ...);

// capget(2): whether the calling thread may take other users' ids (CAP_SETGID is 6, CAP_SETUID is 7).
static inline _Bool xfer_may_act_as_others(void) {
    struct { unsigned version; int pid; } header = {0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */, 0};
    struct { unsigned effective, permitted, inheritable; } sets[2] = {{0}};
    unsigned needed = 1U << 6 | 1U << 7;
    return syscall(SYS_capget, &header, sets) == 0 && (sets[0].effective & needed) == needed;
}

// Gives the calling thread, and no other, the file system ids and groups of a user and takes all its capabilities, among
// them those that override permissions. There is no way back. -1 and errno when the kernel does not do all of it.
static inline int xfer_act_as(unsigned uid, unsigned gid, const unsigned *groups, unsigned long count) {
    struct { unsigned version; int pid; } header = {0x20080522, 0};
    struct { unsigned effective, permitted, inheritable; } none[2] = {{0}};
    if (syscall(SYS_setgroups, count, groups) != 0) return -1;
    // setfsuid(2) does not say whether it succeeded; asked for an id that cannot be, it answers with the one in force.
    syscall(SYS_setfsgid, gid);
    syscall(SYS_setfsuid, uid);
    if ((unsigned)syscall(SYS_setfsgid, ~0U) != gid || (unsigned)syscall(SYS_setfsuid, ~0U) != uid) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_capset, &header, none);
}

// getxattr(2) is not in Swift's Glibc: bytes of an attribute, or of what there are with no room at all.
static inline long xfer_read_attribute(const char *path, const char *name, void *buffer, unsigned long size) {
    return syscall(SYS_getxattr, path, name, buffer, size);
}
