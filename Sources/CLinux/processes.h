#pragma once
// What <spawn.h> shows only under _GNU_SOURCE, which Swift's module of Glibc was built without. Declared under names of
// our own, without including the header: whoever includes it owns its types in Swift's eyes.

// posix_spawn_file_actions_addclosefrom_np(3): a child gets no descriptor it was not given.
extern int xfer_spawn_close_from(void *actions, int lowest) __asm__("posix_spawn_file_actions_addclosefrom_np");

// posix_spawn_file_actions_addchdir_np(3): the child's working directory.
extern int xfer_spawn_change_directory(void *actions, const char *path)
    __asm__("posix_spawn_file_actions_addchdir_np");
