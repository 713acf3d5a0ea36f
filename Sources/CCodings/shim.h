#pragma once
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

// One form for decoders of all content codings: a step takes input and gives output, both as far as there is room.
//
// zlib is linked. Brotli and Zstandard are the libraries that libcurl brings along where it was built with them: they are
// looked up when they are first needed, so that building takes no packages of theirs. What is declared of them here is
// stable within the version that the library's name carries.

enum {
    xfer_coding_gzip = 1,
    xfer_coding_deflate = 2,
    xfer_coding_brotli = 3,
    xfer_coding_zstd = 4,
};

enum {
    /// All input was taken, and what there was of output was given.
    xfer_decoder_wants_input = 0,
    /// The output has no room left.
    xfer_decoder_has_output = 1,
    /// The stream has ended; what is left of the input does not belong to it.
    xfer_decoder_ended = 2,
    xfer_decoder_failed = 3,
};

// Zstandard's and Brotli's, by name.
typedef struct { const void *src; size_t size; size_t pos; } xfer_zstd_in;
typedef struct { void *dst; size_t size; size_t pos; } xfer_zstd_out;

typedef struct xfer_brotli_library {
    void *(*create)(void *, void *, void *);
    void (*destroy)(void *);
    int (*step)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
} xfer_brotli_library;

typedef struct xfer_zstd_library {
    void *(*create)(void);
    size_t (*destroy)(void *);
    size_t (*set)(void *, int, int);
    size_t (*step)(void *, xfer_zstd_out *, xfer_zstd_in *);
    unsigned (*is_error)(size_t);
} xfer_zstd_library;

typedef struct xfer_decoder {
    int coding;
    /// Nothing is missing: the input may end here.
    bool may_end;
    bool has_begun;
    z_stream z;
    /// Brotli's or Zstandard's state.
    void *other;
    xfer_brotli_library brotli;
    xfer_zstd_library zstd;
} xfer_decoder;

static inline bool xfer_brotli_load(xfer_brotli_library *library) {
    void *image = dlopen("libbrotlidec.so.1", RTLD_NOW);
    if (!image) return false;
    *(void **)&library->create = dlsym(image, "BrotliDecoderCreateInstance");
    *(void **)&library->destroy = dlsym(image, "BrotliDecoderDestroyInstance");
    *(void **)&library->step = dlsym(image, "BrotliDecoderDecompressStream");
    return library->create && library->destroy && library->step;
}

static inline bool xfer_zstd_load(xfer_zstd_library *library) {
    void *image = dlopen("libzstd.so.1", RTLD_NOW);
    if (!image) return false;
    *(void **)&library->create = dlsym(image, "ZSTD_createDStream");
    *(void **)&library->destroy = dlsym(image, "ZSTD_freeDStream");
    *(void **)&library->set = dlsym(image, "ZSTD_DCtx_setParameter");
    *(void **)&library->step = dlsym(image, "ZSTD_decompressStream");
    *(void **)&library->is_error = dlsym(image, "ZSTD_isError");
    return library->create && library->destroy && library->set && library->step && library->is_error;
}

static inline void xfer_decoder_free(xfer_decoder *decoder) {
    switch (decoder->coding) {
    case xfer_coding_brotli: decoder->brotli.destroy(decoder->other); break;
    case xfer_coding_zstd: decoder->zstd.destroy(decoder->other); break;
    default: if (decoder->has_begun) inflateEnd(&decoder->z);
    }
    free(decoder);
}

/// NULL without memory, and where the coding's library is not there.
static inline xfer_decoder *xfer_decoder_new(int coding) {
    xfer_decoder *decoder = (xfer_decoder *)calloc(1, sizeof(xfer_decoder));
    if (!decoder) return NULL;
    decoder->coding = coding;
    switch (coding) {
    case xfer_coding_brotli:
        decoder->other = xfer_brotli_load(&decoder->brotli) ? decoder->brotli.create(NULL, NULL, NULL) : NULL;
        break;
    case xfer_coding_zstd:
        decoder->other = xfer_zstd_load(&decoder->zstd) ? decoder->zstd.create() : NULL;
        // ZSTD_d_windowLogMax: no window of more than 8 MiB (RFC 9659).
        if (decoder->other && decoder->zstd.is_error(decoder->zstd.set(decoder->other, 100, 23))) {
            decoder->zstd.destroy(decoder->other);
            decoder->other = NULL;
        }
        break;
    default:
        return decoder;
    }
    if (decoder->other) return decoder;
    free(decoder);
    return NULL;
}

static inline int xfer_inflate_step(
    xfer_decoder *decoder, const uint8_t **input, size_t *input_left, uint8_t *output, size_t room, size_t *given) {
    z_stream *z = &decoder->z;
    int status;
    if (!decoder->has_begun) {
        if (*input_left == 0) return xfer_decoder_wants_input;
        // gzip with its header; "deflate" is the zlib format, but some servers leave its header out.
        int bits = decoder->coding == xfer_coding_gzip ? 15 + 16 : ((**input & 0x8f) == 8 ? 15 : -15);
        if (inflateInit2(z, bits) != Z_OK) return xfer_decoder_failed;
        decoder->has_begun = true;
    }
    if (decoder->may_end && *input_left > 0) {
        // gzip has members, one after another (RFC 1952 section 2.2).
        if (decoder->coding != xfer_coding_gzip) return xfer_decoder_ended;
        if (inflateReset(z) != Z_OK) return xfer_decoder_failed;
        decoder->may_end = false;
    }
    if (decoder->may_end) return xfer_decoder_wants_input;
    z->next_in = (Bytef *)*input;
    z->avail_in = *input_left > (1u << 30) ? (1u << 30) : (uInt)*input_left;
    z->next_out = output;
    z->avail_out = room > (1u << 30) ? (1u << 30) : (uInt)room;
    status = inflate(z, Z_NO_FLUSH);
    *given = (size_t)(z->next_out - output);
    *input_left -= (size_t)(z->next_in - *input);
    *input = z->next_in;
    if (status == Z_STREAM_END) {
        decoder->may_end = true;
        return *input_left > 0 ? xfer_decoder_has_output : xfer_decoder_wants_input;
    }
    if (status != Z_OK && status != Z_BUF_ERROR) return xfer_decoder_failed;
    return z->avail_out == 0 || *input_left > 0 ? xfer_decoder_has_output : xfer_decoder_wants_input;
}

static inline int xfer_brotli_step(
    xfer_decoder *decoder, const uint8_t **input, size_t *input_left, uint8_t *output, size_t room, size_t *given) {
    size_t left = room;
    uint8_t *next = output;
    if (decoder->may_end) return *input_left > 0 ? xfer_decoder_ended : xfer_decoder_wants_input;
    int result = decoder->brotli.step(decoder->other, input_left, input, &left, &next, NULL);
    *given = room - left;
    switch (result) {
    case 1: decoder->may_end = true; return *input_left > 0 ? xfer_decoder_ended : xfer_decoder_wants_input;
    case 2: return xfer_decoder_wants_input;
    case 3: return xfer_decoder_has_output;
    default: return xfer_decoder_failed;
    }
}

static inline int xfer_zstd_step(
    xfer_decoder *decoder, const uint8_t **input, size_t *input_left, uint8_t *output, size_t room, size_t *given) {
    if (decoder->may_end && *input_left == 0) return xfer_decoder_wants_input;
    xfer_zstd_in in = {*input, *input_left, 0};
    xfer_zstd_out out = {output, room, 0};
    size_t result = decoder->zstd.step(decoder->other, &out, &in);
    if (decoder->zstd.is_error(result)) return xfer_decoder_failed;
    *given = out.pos;
    *input += in.pos;
    *input_left -= in.pos;
    // 0: a frame has ended and all of it was given; another may follow.
    decoder->may_end = result == 0;
    return out.pos == out.size || *input_left > 0 ? xfer_decoder_has_output : xfer_decoder_wants_input;
}

/// Takes input and gives at most `room` bytes of output.
static inline int xfer_decoder_step(
    xfer_decoder *decoder, const uint8_t **input, size_t *input_left, uint8_t *output, size_t room, size_t *given) {
    *given = 0;
    switch (decoder->coding) {
    case xfer_coding_brotli: return xfer_brotli_step(decoder, input, input_left, output, room, given);
    case xfer_coding_zstd: return xfer_zstd_step(decoder, input, input_left, output, room, given);
    default: return xfer_inflate_step(decoder, input, input_left, output, room, given);
    }
}
