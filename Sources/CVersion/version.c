#include "CVersion.h"

// C, because Swift has no definitions with values. Only this file is compiled anew with each commit.
#ifndef XFER_COMMIT
#define XFER_COMMIT ""
#endif

const char *xfer_commit(void) { return XFER_COMMIT; }
