import Glibc

/// The public suffix list (publicsuffix.org): domains below which registries assign names, so that a cookie must not
/// apply to all of them.
///
/// libpsl reads it. Its two functions are looked up in the running program instead of being linked. libcurl loads the
/// library if it was built with it, as Debian's is; so the package needs no further dependency, and both judge by the
/// same list. With a link, libpsl would be required also where libcurl was built without it. There, as for libcurl,
/// only names of a single label are public suffixes.
enum PublicSuffixes {
    /// True if registries assign names below the domain.
    ///
    /// - Parameter domain: the domain, in lower case.
    static func contains(_ domain: String) -> Bool {
        guard let list else { return !domain.utf8.dropLast().contains(UInt8(ascii: ".")) }
        // libpsl does not know names with the root's dot.
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return list.isPublicSuffix(list.pointer, name) != 0
    }

    // The list is loaded once, and never changed or freed.
    private struct List: @unchecked Sendable {
        let pointer: UnsafeRawPointer
        let isPublicSuffix: IsPublicSuffix
    }

    private typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> UnsafeRawPointer?
    private typealias IsPublicSuffix = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>) -> CInt

    private static let list: List? = {
        // The program with its libraries.
        guard let program = dlopen(nil, RTLD_NOW), let latest = dlsym(program, "psl_latest"),
            let isPublicSuffix = dlsym(program, "psl_is_public_suffix"),
            let pointer = unsafeBitCast(latest, to: Latest.self)(nil)
        else { return nil }
        return List(pointer: pointer, isPublicSuffix: unsafeBitCast(isPublicSuffix, to: IsPublicSuffix.self))
    }()
}
