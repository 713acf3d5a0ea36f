import Glibc

/// Runs moto's S3 server (from PyPI) on a free port of 127.0.0.1, with one bucket and one user.
///
/// Like AWS, the server checks the user's signatures; it computes them with botocore's own signer. It is killed when
/// the last reference is released.
public final class MotoServer: Sendable {
    /// True if moto is installed on this machine.
    public static var isInstalled: Bool { python != nil }

    public static let region = "us-east-1"
    public let url: String
    /// The user's access key.
    public let accessKey: String
    /// The user's secret key, and a file of mode 0600 that contains it.
    public let secretKey: String
    public let secretFile: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameter bucket: the name of the bucket to create. The user has all rights to it.
    public init(bucket: String) async throws {
        guard let python = Self.python else { throw TimedOut("moto is not installed: scripts/packages test") }
        let directory = try TemporaryDirectory("xfer-moto")
        try FileTree.write(Self.program, to: directory.file("served.py"))
        var options = ChildProcess.Options()
        options.directory = directory.path
        options.output = directory.file("output")
        options.errors = directory.file("output")
        let process = try ChildProcess(python, ["served.py", bucket], options: options)
        let log = directory.file("output")
        let lines = try await eventually("moto starts", within: .seconds(120)) { () -> [String]? in
            guard process.isRunning else { throw TimedOut("moto does not start: \((try? FileTree.text(log)) ?? "")") }
            return try? FileTree.text(directory.file("ready")).split(separator: "\n").map(String.init)
        }
        guard lines.count == 3 else { throw TimedOut("moto says \(lines)") }
        (url, accessKey, secretKey) = (lines[0], lines[1], lines[2])
        secretFile = directory.file("secret")
        try FileTree.write(secretKey + "\n", to: secretFile, mode: 0o600)
        self.directory = directory
        self.process = process
    }

    /// The keys of the bucket's objects, each with the SHA-256 digest in hex of the bytes that the server stores.
    public func objects() async throws -> [String: String] {
        let listing = directory.file("objects")
        FileTree.remove(listing)
        process.signal(SIGUSR1)
        let text = try await eventually("moto lists its objects") { try? FileTree.text(listing) }
        let pairs = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[1], $0[0]) })
    }

    /// One line per request, as werkzeug logs them.
    public var log: String { (try? FileTree.text(directory.file("output"))) ?? "" }

    private static var python: String? { PythonEnvironment.interpreter(with: "moto_server") }

    /// Creates the bucket and the user while authentication is off, then switches it on. Lists the objects after each
    /// SIGUSR1.
    private static let program = """
        import hashlib, json, os, signal, sys
        os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", AWS_EC2_METADATA_DISABLED="true")
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        import boto3, moto.settings
        from moto.backends import get_backend
        from moto.server import ThreadedMotoServer

        def put(name, text):
            descriptor = os.open(name + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(descriptor, text.encode())
            os.close(descriptor)
            os.rename(name + ".new", name)

        bucket = sys.argv[1]
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=True)
        server.start()
        url = "http://%s:%d" % server.get_host_and_port()
        iam = boto3.client("iam", endpoint_url=url, region_name="us-east-1")
        iam.create_user(UserName="xfer")
        allow = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
        iam.put_user_policy(UserName="xfer", PolicyName="all", PolicyDocument=document)
        key = iam.create_access_key(UserName="xfer")["AccessKey"]
        boto3.client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket=bucket)
        moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
        put("ready", "\\n".join([url, key["AccessKeyId"], key["SecretAccessKey"]]))
        while signal.sigwait([signal.SIGUSR1]):
            keys = get_backend("s3")["123456789012"]["aws"].buckets[bucket].keys
            put("objects", "".join(
                "%s %s\\n" % (hashlib.sha256(object.value).hexdigest(), name) for name, object in keys.items()))
        """
}
