import CCurl
import NIOConcurrencyHelpers

/// The locks of what libcurl's handles share (CURLSHOPT_LOCKFUNC(3)): one for the share itself, one for the cookies.
final class ShareLocks: Sendable {
    private let share = NIOLock()
    private let cookies = NIOLock()

    func lock(for data: curl_lock_data) -> NIOLock { data == CURL_LOCK_DATA_COOKIE ? cookies : share }
}

// libcurl's entry points; see CurlCallbacks.swift. The context belongs to the jar, which outlives its share.

/// CURLSHOPT_LOCKFUNC.
func curlLockCallback(
    _ easy: UnsafeMutableRawPointer?, _ data: curl_lock_data, _ access: curl_lock_access,
    _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<ShareLocks>.fromOpaque(context).takeUnretainedValue().lock(for: data).lock()
}

/// CURLSHOPT_UNLOCKFUNC.
func curlUnlockCallback(
    _ easy: UnsafeMutableRawPointer?, _ data: curl_lock_data, _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<ShareLocks>.fromOpaque(context).takeUnretainedValue().lock(for: data).unlock()
}
