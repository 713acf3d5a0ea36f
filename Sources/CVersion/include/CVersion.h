#ifndef CVERSION_H
#define CVERSION_H

/// The commit that was built; empty when the build was not told.
const char *xfer_commit(void);

#endif
