import XferModel

@testable import XferAria2

/// `man/xfer-aria2c.1`, from `Aria2Option` and `Aria2ErrorNumber`.
enum Aria2Manual {
    static var text: String {
        var output = heading + list(Aria2Option.Mapped.allCases.map { ("Fl Fl \($0.rawValue)", meaning(of: $0)) })
        output += ".Pp\nThese are taken with one value only:\n"
        output += list(
            Aria2Option.restricted.sorted { $0.key < $1.key }
                .map { ("Fl Fl \($0.key) Ns = Ns \($0.value.value)", "\($0.value.why).") })
        output += ".Pp\nThese are refused:\n"
        let refused = Aria2Option.refused.filter { $0.key != "load-cookies" && $0.key != "input-file" }
        for why in Set(refused.values).sorted() {
            let names = refused.filter { $0.value == why }.keys.sorted()
            output += ".Bl -item -compact\n.It\n" + names.map { ".Fl Fl \($0) ,\n" }.joined()
            output += "since \(why).\n.El\n.Pp\n"
        }
        output += ConfigurationManual.lines(
            "Options that cannot change the result, such as file-allocation, do nothing.")
        return output + environment + ".Sh EXIT STATUS\nThat of\n.Xr aria2c 1 :\n" + list(statuses) + ending
    }

    private static func list(_ entries: [(term: String, meaning: String)]) -> String {
        ".Bl -tag -width Ds\n"
            + entries.map { ".It \($0.term)\n" + ConfigurationManual.lines($0.meaning) }.joined() + ".El\n"
    }

    private static var statuses: [(term: String, meaning: String)] {
        let own = [
            Aria2ErrorNumber.success: "Every download is complete.",
            Aria2ErrorNumber.unfinished: "A signal ended the program; its downloads are paused.",
            Aria2ErrorNumber.badOption: "An option cannot be honoured.",
            Aria2ErrorNumber.removed: "A download was cancelled.",
        ]
        let reasons = Dictionary(grouping: FailureReason.allCases) { Aria2ErrorNumber.number(of: $0, status: 404) }
        let failures = reasons.mapValues { $0.map(\.rawValue).joined(separator: ", ") + "." }
        return own.merging(failures) { "\($0) \($1)" }.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }
    }

    private static func meaning(of option: Aria2Option.Mapped) -> String {
        switch option {
        case .out: "The file's name, also -o."
        case .directory: "Its directory, also -d; the working directory unless it is given."
        case .checksum: "TYPE=DIGEST with sha-512, sha-256, sha-1 or md5."
        case .header: "A field of the request; may be repeated."
        case .referer, .userAgent: "A field of the request."
        case .user, .password: "The login at the server."
        case .split, .connections: "Segments of the download, also -s and -x: the smaller of both, at most 16."
        case .downloadLimit, .uploadLimit: "Bytes per second, such as 500K or 10M; 0 is unlimited."
        case .pause: "Add the download without starting it."
        case .gid: "16 hexadecimal digits by which front-ends know the download."
        case .proxy, .httpProxy, .httpsProxy: "A proxy for all URIs, for http, or for https."
        case .proxyUser, .proxyPassword, .httpProxyUser, .httpProxyPassword, .httpsProxyUser, .httpsProxyPassword:
            "The login at that proxy."
        case .noProxy: "Hosts that are requested without a proxy, separated by commas."
        case .connectTimeout: "Longest time until a connection is established, in seconds."
        case .timeout: "Longest time without a byte, in seconds, also -t."
        case .lowestSpeed: "Lowest receive rate of a connection; a slower one is closed; 0 is no limit."
        case .tries: "Attempts for a download, also -m; default 5."
        case .overwrite: "true: replace a file of that name."
        case .continuing: "true: fetch the rest of a file that another program left, also -c."
        case .rename: "false: fail if there is a file of that name."
        case .conditional: "true: fetch only what is newer than the file of that name."
        case .remoteTime: "true: give the file the modification time from the server, also -R."
        }
    }

    private static let heading = #"""
        .\" A test generates this file: XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests
        .Dd January 1, 2026
        .Dt XFER-ARIA2C 1
        .Os
        .Sh NAME
        .Nm xfer-aria2c
        .Nd aria2c's command line for the background transfer service
        .Sh SYNOPSIS
        .Nm
        .Op Ar options
        .Ar URI ...
        .Nm
        .Op Ar options
        .Fl i Ar file
        .Sh DESCRIPTION
        .Nm
        takes the command line of
        .Xr aria2c 1 ,
        hands the downloads to
        .Xr xferd 8 ,
        and waits for them.
        The URIs of one command are mirrors of one file.
        After SIGINT or SIGTERM its downloads are paused;
        .Ql xferctl resume
        goes on.
        .Pp
        Options that are about the command itself:
        .Bl -tag -width Ds
        .It Fl i Ar file
        Read downloads from a file in aria2's format, each with options of its own;
        .Ql -
        is standard input.
        .It Fl Z
        Each URI is a download.
        .It Fl Fl load-cookies Ns = Ns Ar file
        Send the cookies of a file in Netscape's format.
        .It Fl q , Fl Fl show-console-readout Ns =false , Fl Fl download-result Ns =hide
        Print nothing, no progress, or no results.
        .It Fl Fl max-overall-download-limit
        The limit of each download.
        .El
        .Pp
        Options of a download:

        """#

    private static let environment = #"""
        .Sh ENVIRONMENT
        .Bl -tag -width Ds
        .It Ev XFERD_SOCKET
        The daemon's socket.
        Without it the caller's own daemon is asked, else the system's.
        .El

        """#

    private static let ending = #"""
        .Sh SEE ALSO
        .Xr aria2c 1 ,
        .Xr xferctl 1 ,
        .Xr xferd 8

        """#
}
