#include "CEmptyICU.h"

// Foundation carries 34 MB of tables about languages and calendars, which GRDB and Yams link and xferd never asks for.
// A statically linked program takes the tables from here instead: ICU's common data (unicode/udata.h) with no entries, as
// ICU's own stubdata.cpp has it. A toolchain with another version of ICU asks for another name, and links its tables.
struct XferEmptyICUData {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size;
    uint16_t reserved_word;
    uint8_t is_big_endian;
    uint8_t charset_family;
    uint8_t size_of_uchar;
    uint8_t reserved_byte;
    uint8_t data_format[4];
    uint8_t format_version[4];
    uint8_t data_version[4];
    uint8_t padding[8];
    uint32_t count;
    int32_t reserved;
    int32_t no_names[4];
};

const struct XferEmptyICUData icudt76_dat = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info_size = 20,
    .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .size_of_uchar = 2,
    .data_format = {'C', 'm', 'n', 'D'},
    .format_version = {1},
};
