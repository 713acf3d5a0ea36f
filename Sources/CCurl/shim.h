#pragma once
// The typecheck macros only understand literal option names, which the wrappers below do not have.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// A macro for an enumerator, which Swift does not import.
static const CURLversion xfer_curl_version_now = CURLVERSION_NOW;

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one wrapper per type
// of argument.

static inline CURLcode xfer_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode xfer_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode xfer_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode xfer_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode xfer_easy_set_seek_function(CURL *easy, curl_seek_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode xfer_easy_set_data_function(CURL *easy, CURLoption option, curl_write_callback function) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode xfer_easy_set_sockopt_function(CURL *easy, curl_sockopt_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}

static inline CURLcode xfer_easy_set_prereq_function(CURL *easy, curl_prereq_callback function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode xfer_easy_set_ssl_ctx_function(CURL *easy, curl_ssl_ctx_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

static inline CURLcode xfer_easy_set_open_socket_function(CURL *easy, curl_opensocket_callback function) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode xfer_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode xfer_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode xfer_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode xfer_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode xfer_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode xfer_multi_set_socket_function(CURLM *multi, curl_socket_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}

static inline CURLMcode xfer_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}

// Bits that are made with a cast, which Swift does not import.
static const long xfer_auth_basic = CURLAUTH_BASIC;
static const long xfer_auth_digest = CURLAUTH_DIGEST;
static const long xfer_auth_negotiate = CURLAUTH_NEGOTIATE;
static const long xfer_auth_ntlm = CURLAUTH_NTLM;
static const long xfer_auth_bearer = CURLAUTH_BEARER;
static const int xfer_version_spnego = CURL_VERSION_SPNEGO;

// The message's result lies in a union, which Swift imports without telling its members' meaning.
static inline CURLcode xfer_message_result(const CURLMsg *message) {
    return message->data.result;
}
