#ifndef XFER_VERSION_H
#define XFER_VERSION_H

/// The commit that was built; empty when the build was not told.
const char *xfer_commit(void);

#endif
