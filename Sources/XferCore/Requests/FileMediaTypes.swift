/// Media types of files by the extension of their names, from /etc/mime.types of Debian 12.
///
/// If that file has no type, or an outdated one, the type is the one that is registered with IANA, or else that of
/// shared-mime-info. Extensions that belong to several formats (`key`, `ts`) have none.
public enum FileMediaTypes {
    /// The type of a file with this name; nil if its extension is not known.
    public static func type(ofFileNamed name: String) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return known[name[name.index(after: dot)...].lowercased()]
    }

    private static let known = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "apk": "application/vnd.android.package-archive",
        "atom": "application/atom+xml", "avi": "video/x-msvideo", "avif": "image/avif",
        "bin": "application/octet-stream", "bmp": "image/bmp", "bz2": "application/x-bzip2", "c": "text/x-csrc",
        "cer": "application/pkix-cert", "cpp": "text/x-c++src", "crl": "application/pkix-crl",
        "crt": "application/x-x509-ca-cert", "css": "text/css", "csv": "text/csv",
        "deb": "application/vnd.debian.binary-package", "der": "application/x-x509-ca-cert", "diff": "text/x-diff",
        "dmg": "application/x-apple-diskimage", "dng": "image/x-adobe-dng", "doc": "application/msword",
        "docm": "application/vnd.ms-word.document.macroEnabled.12",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "eml": "message/rfc822",
        "eot": "application/vnd.ms-fontobject", "epub": "application/epub+zip", "exe": "application/x-msdos-program",
        "flac": "audio/flac", "flv": "video/x-flv", "geojson": "application/geo+json", "gif": "image/gif",
        "glb": "model/gltf-binary", "gltf": "model/gltf+json", "gpx": "application/gpx+xml", "gz": "application/gzip",
        "h": "text/x-chdr", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "iso": "application/x-iso9660-image",
        "jar": "application/java-archive", "java": "text/x-java", "jp2": "image/jp2", "jpe": "image/jpeg",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jsonld": "application/ld+json", "jxl": "image/jxl", "kml": "application/vnd.google-earth.kml+xml",
        "kmz": "application/vnd.google-earth.kmz", "log": "text/plain", "lz4": "application/x-lz4",
        "lzma": "application/x-lzma", "m3u8": "application/vnd.apple.mpegurl", "m4a": "audio/mp4", "m4v": "video/mp4",
        "md": "text/markdown", "mid": "audio/midi", "midi": "audio/midi", "mjs": "text/javascript",
        "mka": "audio/x-matroska", "mkv": "video/x-matroska", "mobi": "application/x-mobipocket-ebook",
        "mov": "video/quicktime", "mp2": "audio/mpeg", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg",
        "mpg": "video/mpeg", "mpga": "audio/mpeg", "msi": "application/x-msi", "ndjson": "application/x-ndjson",
        "numbers": "application/vnd.apple.numbers", "odg": "application/vnd.oasis.opendocument.graphics",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "p12": "application/pkcs12", "p7b": "application/x-pkcs7-certificates", "p7c": "application/pkcs7-mime",
        "p7m": "application/pkcs7-mime", "p7s": "application/pkcs7-signature", "p8": "application/pkcs8",
        "pages": "application/vnd.apple.pages", "parquet": "application/vnd.apache.parquet", "patch": "text/x-diff",
        "pcap": "application/vnd.tcpdump.pcap", "pdf": "application/pdf", "pfx": "application/pkcs12",
        "plist": "application/x-plist", "png": "image/png", "pps": "application/vnd.ms-powerpoint",
        "ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ps": "application/postscript", "psd": "image/vnd.adobe.photoshop", "py": "text/x-python",
        "qt": "video/quicktime", "rar": "application/vnd.rar", "rdf": "application/rdf+xml",
        "rpm": "application/x-redhat-package-manager", "rss": "application/rss+xml", "rtf": "application/rtf",
        "sh": "application/x-sh", "sql": "application/sql", "sqlite3": "application/vnd.sqlite3",
        "svg": "image/svg+xml", "svgz": "image/svg+xml", "tar": "application/x-tar", "tex": "text/x-tex",
        "text": "text/plain", "tgz": "application/gzip", "tif": "image/tiff", "tiff": "image/tiff",
        "toml": "application/toml", "torrent": "application/x-bittorrent", "tsv": "text/tab-separated-values",
        "ttc": "font/collection", "ttf": "font/ttf", "txt": "text/plain", "usdz": "model/vnd.usdz+zip",
        "vcard": "text/vcard", "vcf": "text/vcard", "vsd": "application/vnd.visio", "vtt": "text/vtt",
        "wasm": "application/wasm", "wav": "audio/x-wav", "weba": "audio/webm", "webm": "video/webm",
        "webmanifest": "application/manifest+json", "webp": "image/webp", "wma": "audio/x-ms-wma",
        "wmv": "video/x-ms-wmv", "woff": "font/woff", "woff2": "font/woff2", "xcf": "image/x-xcf",
        "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xpi": "application/x-xpinstall", "xsd": "application/xml", "xsl": "application/xslt+xml",
        "xslt": "application/xslt+xml", "xz": "application/x-xz", "yaml": "application/yaml",
        "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
