#pragma once
#include <stdint.h>

/// The name under which ICU 76 finds its data.
extern const struct XferEmptyICUData icudt76_dat;
