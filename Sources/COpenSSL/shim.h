#pragma once
#include <openssl/evp.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>

// Macros over SSL_CTX_ctrl, which Swift does not import.

static inline int xfer_ssl_ctx_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline int xfer_ssl_ctx_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline void xfer_ssl_ctx_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int xfer_ssl_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int xfer_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Asks servers for an OCSP response, and has `callback` judge what came: 1 accepts (SSL_CTX_set_tlsext_status_cb(3)).
static inline int xfer_ssl_ctx_request_status(SSL_CTX *context, int (*callback)(SSL *, void *), void *argument) {
    return SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp) == 1
        && SSL_CTX_set_tlsext_status_cb(context, callback) == 1
        && SSL_CTX_set_tlsext_status_arg(context, argument) == 1;
}

// The response as it came; -1 when there is none.
static inline long xfer_ssl_status_response(SSL *ssl, const unsigned char **response) {
    *response = NULL;
    return SSL_get_tlsext_status_ocsp_resp(ssl, response);
}

// A server's answer to that, copied.
static inline int xfer_ssl_set_status_response(SSL *ssl, const unsigned char *response, size_t count) {
    unsigned char *copy = OPENSSL_memdup(response, count);
    return copy && SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)count) == 1;
}

// A macro with a function pointer of a type Swift spells differently.
static inline int xfer_ssl_ctx_new_ex_index(CRYPTO_EX_free *free_function) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_function);
}

// Flags as plain values: some are macros with casts, which Swift does not import.
static const uint64_t xfer_ssl_op_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t xfer_ssl_op_no_ticket = SSL_OP_NO_TICKET;
static const unsigned long xfer_name_flags_rfc2253 = XN_FLAG_RFC2253;
static const unsigned long xfer_x509_flag_partial_chain = X509_V_FLAG_PARTIAL_CHAIN;
static const unsigned int xfer_x509_name_check_flags =
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

// A GENERAL_NAME's value lies in a union: the octets of a DNS name or an IP address, NULL for other kinds.
static inline const ASN1_STRING *xfer_general_name_octets(const GENERAL_NAME *name, int *is_address) {
    *is_address = name->type == GEN_IPADD;
    if (name->type == GEN_DNS) return name->d.dNSName;
    return name->type == GEN_IPADD ? name->d.iPAddress : NULL;
}

// Whether PEM_read_bio stopped because nothing was left.
static inline int xfer_pem_is_at_end(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}
