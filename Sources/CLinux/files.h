#pragma once
// What file handling needs and Glibc does not show to Swift. Every wrapper returns what the system call returns: -1 and
// errno on failure. System calls are made by number and no Glibc header is included: whoever includes one owns its
// types in Swift's eyes (`struct stat` would be CLinux's, not Glibc's).
#include <linux/falloc.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

// O_PATH (open(2)) hides behind _GNU_SOURCE: a descriptor that only names a directory, which need not be readable.
enum { XFER_O_PATH = 010000000 };

// O_TMPFILE (open(2)) hides behind _GNU_SOURCE: a file without a name, gone when it is closed unless it is given one.
enum { XFER_O_TMPFILE = 020000000 | 0200000 /* O_DIRECTORY */ };

// UTIME_OMIT (utimensat(2)) is a macro Swift cannot read: leave this time as it is.
enum { XFER_UTIME_OMIT = (1 << 30) - 2 };

// unistd.h hides it from Swift, it is variadic: here for the wrappers below.
long syscall(long number, ...);

// openat2(2) has no wrapper in Glibc: opens `path` without ever leaving `directory`, not even through a link.
static inline int xfer_open_beneath(int directory, const char *path, int flags) {
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// renameat2(2) hides behind _GNU_SOURCE: renames within a directory unless the new name is taken (EEXIST).
static inline int xfer_rename_noreplace(int directory, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, directory, from, directory, to, 1U /* RENAME_NOREPLACE */);
}

// fallocate(2) hides behind _GNU_SOURCE: reserves blocks without changing the file's length.
static inline int xfer_reserve_blocks(int descriptor, long length) {
    return (int)syscall(SYS_fallocate, descriptor, FALLOC_FL_KEEP_SIZE, 0L, length);
}

// ioctl(2) is variadic: FICLONE shares the blocks of `source` with `target`, where the file system can.
static inline int xfer_clone_file(int target, int source) {
    return (int)syscall(SYS_ioctl, target, 0x40049409UL /* FICLONE, linux/fs.h */, (long)source);
}

// copy_file_range(2) hides behind _GNU_SOURCE: copies within the kernel, from and to the same offset.
static inline long xfer_copy_range(int source, int target, long offset, unsigned long length) {
    long from = offset, to = offset;
    return syscall(SYS_copy_file_range, source, &from, target, &to, length, 0U);
}

// fstatfs(2) is not in Swift's Glibc. The first word of `struct statfs` is the type of the file system; those not in
// linux/magic.h are from each file system's source. 0 when it cannot be told.
static inline unsigned long xfer_file_system_type(int descriptor) {
    unsigned long facts[32] = {0};
    return syscall(SYS_fstatfs, descriptor, facts) == 0 ? facts[0] : 0;
}

// Whether a file lies on this machine's own disks or in its memory.
static inline _Bool xfer_is_local_file_system(int descriptor) {
    switch (xfer_file_system_type(descriptor)) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: case TMPFS_MAGIC:
    case 0x2fc12fc1 /* ZFS */: case 0xca451a4e /* bcachefs */: return 1;
    default: return 0;
    }
}

// Whether mode bits and POSIX access control lists are all that decides about a file here. On a file system of another
// machine, or of a program (FUSE), somebody else decides.
static inline _Bool xfer_decides_by_mode(int descriptor) {
    if (xfer_is_local_file_system(descriptor)) return 1;
    switch (xfer_file_system_type(descriptor)) {
    case OVERLAYFS_SUPER_MAGIC: case RAMFS_MAGIC: case SQUASHFS_MAGIC: case MSDOS_SUPER_MAGIC: case ISOFS_SUPER_MAGIC:
    case PROC_SUPER_MAGIC: case SYSFS_MAGIC: case 0x2011bab0 /* exfat */: case 0x7366746e /* ntfs3 */:
    case 0x3153464a /* jfs */: case REISERFS_SUPER_MAGIC: case NILFS_SUPER_MAGIC: case 0x0187 /* autofs */: return 1;
    default: return 0;
    }
}

// Whether blocks that are reserved are those that are written later, and reserving them is quick: in memory they would be
// filled with zeros, and copying on write takes others.
static inline _Bool xfer_profits_from_reserving(int descriptor) {
    switch (xfer_file_system_type(descriptor)) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: return 1;
    default: return 0;
    }
}
