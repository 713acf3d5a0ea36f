import Glibc

/// The Python environment that `scripts/packages test` prepares beside the build, with the servers of `scripts/requirements.txt`.
public enum PythonEnvironment {
    /// Its interpreter, if `program` is installed there: `uvicorn`, `moto_server`, `flask`.
    public static func interpreter(with program: String) -> String? {
        // `.build/python` lies some levels above the products.
        guard var directory = try? Command.productsDirectory else { return nil }
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            for home in ["\(directory)/python", "\(directory)/.build/python"] {
                if access("\(home)/bin/\(program)", X_OK) == 0 { return "\(home)/bin/python" }
            }
        }
        return nil
    }
}
