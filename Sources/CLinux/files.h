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

// sync_file_range(2) hides behind _GNU_SOURCE: begins to write all bytes of the file, and does not wait for them.
static inline int xfer_begin_writing(int descriptor) {
    return (int)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2U /* SYNC_FILE_RANGE_WRITE, linux/fs.h */);
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

// fgetxattr(2) is not in Swift's Glibc: the access control list that new files of a directory inherit, in the layout of
// linux/posix_acl_xattr.h; its length, or -1.
static inline long xfer_default_access_list(int directory, void *list, unsigned long size) {
    return syscall(SYS_fgetxattr, directory, "system.posix_acl_default", list, size);
}

// The kernel's own layout of struct statx (statx(2)) as far as the time of birth, under a name of our own.
struct xfer_birth {
    unsigned int mask, before[19];
    long long seconds;
    unsigned int nanoseconds, after[41];
};

// When an open file was made, in nanoseconds since 1970; -1 where its file system does not say.
static inline int xfer_birth_time(int descriptor, long long *nanoseconds) {
    struct xfer_birth facts = {0};
    _Static_assert(sizeof facts == 256, "struct statx has 256 bytes");
    if (syscall(SYS_statx, descriptor, "", 0x1000 /* AT_EMPTY_PATH */, 0x800U /* STATX_BTIME */, &facts) != 0) return -1;
    if (!(facts.mask & 0x800U)) return -1;
    long long whole;
    if (__builtin_mul_overflow(facts.seconds, 1000000000LL, &whole)) return -1;
    return __builtin_add_overflow(whole, (long long)facts.nanoseconds, nanoseconds) ? -1 : 0;
}

// ioctl(2) is variadic: which use of its inode number an open file is; -1 where its file system does not count them.
static inline int xfer_inode_generation(int descriptor, unsigned int *generation) {
    long number = 0; // The kernel writes an int, whatever the request's name says.
    if (syscall(SYS_ioctl, descriptor, 0x80087601UL /* FS_IOC_GETVERSION, linux/fs.h */, &number) != 0) return -1;
    *generation = (unsigned int)number;
    return 0;
}

// lseek(2) with SEEK_HOLE, which hides behind _GNU_SOURCE: where the first bytes from `offset` on lie that nobody wrote; the
// file's end when there are none. Nobody but the caller may use the file's own offset.
static inline long xfer_next_hole(int descriptor, long offset) {
    return syscall(SYS_lseek, descriptor, offset, 4 /* SEEK_HOLE */);
}

// fstatfs(2) is not in Swift's Glibc. The first word of `struct statfs` is the type of the file system; those not in
// linux/magic.h are from each file system's source. 0 when it cannot be told.
static inline unsigned long xfer_file_system_type(int descriptor) {
    unsigned long facts[32] = {0};
    return syscall(SYS_fstatfs, descriptor, facts) == 0 ? facts[0] : 0;
}

// major(3) and minor(3) are macros: the parts of a device number as stat(2) reports it.
static inline unsigned xfer_major(unsigned long long device) {
    return (unsigned)((device >> 32 & 0xfffff000U) | (device >> 8 & 0xfffU));
}
static inline unsigned xfer_minor(unsigned long long device) {
    return (unsigned)((device >> 12 & 0xffffff00U) | (device & 0xffU));
}

// makedev(3) is a macro, too.
static inline unsigned long long xfer_device(unsigned long long major, unsigned long long minor) {
    return (major & 0xfffff000U) << 32 | (major & 0xfffU) << 8 | (minor & 0xffffff00U) << 12 | (minor & 0xffU);
}

// Whether files of such a file system lie on this machine's own disks or in its memory.
static inline _Bool xfer_is_local(unsigned long type) {
    switch (type) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: case TMPFS_MAGIC:
    case 0x2fc12fc1 /* ZFS */: case 0xca451a4e /* bcachefs */: return 1;
    default: return 0;
    }
}

static inline _Bool xfer_is_local_file_system(int descriptor) { return xfer_is_local(xfer_file_system_type(descriptor)); }

// Whether a file system tells bytes that were never written from zeros that were. ZFS and others make holes of zeros.
static inline _Bool xfer_knows_holes(unsigned long type) {
    switch (type) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: case TMPFS_MAGIC: return 1;
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

// Whether a file keeps its inode number: FAT, exFAT and FUSE may give it another one when it is opened again.
static inline _Bool xfer_keeps_inode_numbers(unsigned long type) {
    switch (type) {
    case MSDOS_SUPER_MAGIC: case 0x2011bab0 /* exFAT */: case 0x65735546 /* FUSE */: return 0;
    default: return 1;
    }
}

// Whether names follow the rules of Windows here: FAT, exFAT, NTFS, and shares of such a machine.
static inline _Bool xfer_names_as_windows(unsigned long type) {
    switch (type) {
    case MSDOS_SUPER_MAGIC: case 0x2011bab0 /* exFAT */: case 0x7366746e /* ntfs3 */: case 0x5346544e /* NTFS */:
    case 0x517b /* SMB */: case 0xff534d42 /* CIFS */: case 0xfe534d42 /* SMB2 */: return 1;
    default: return 0;
    }
}

// Whether no file can have two names.
static inline _Bool xfer_has_no_links(unsigned long type) {
    return type == MSDOS_SUPER_MAGIC || type == 0x2011bab0 /* exFAT */;
}

// Whether blocks that are reserved are those that are written later, and reserving them is quick: in memory they would be
// filled with zeros, and copying on write takes others.
static inline _Bool xfer_profits_from_reserving(int descriptor) {
    switch (xfer_file_system_type(descriptor)) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: return 1;
    default: return 0;
    }
}
