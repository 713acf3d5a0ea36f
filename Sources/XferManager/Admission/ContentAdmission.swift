import XferCore
import XferFiles
import XferModel

/// Checks the files that a request is to send, and records their metadata.
struct ContentAdmission: Sendable {
    let principal: Principal
    let rights: OwnerRights
    let paths: PathPools

    /// Admits the content of a request.
    ///
    /// - Parameter path: the prefix of field names in errors.
    func admit(_ content: RequestBuilder.Content?, path: String) async throws -> RequestBody? {
        switch content {
        case nil: return nil
        case .inline(let bytes): return .inline(bytes)
        case .file(let file): return .file(try await admit(file, path: path))
        case .parts(let parts):
            var admitted: [BodyPart] = []
            for part in parts { admitted.append(try await admit(part, path: path)) }
            return .parts(admitted)
        }
    }

    private func admit(_ part: RequestPart, path: String) async throws -> BodyPart {
        switch part.content {
        case .bytes(let bytes): return part.replacing(BodyPart.Content.inline(bytes))
        case .file(let file):
            var admitted = part.replacing(BodyPart.Content.file(try await admit(file, path: path)))
            admitted.filename = part.filename ?? file.path.split(separator: "/").last.map { String($0) }
            return admitted
        }
    }

    /// Admits one file.
    func admit(_ file: FileReference, path: String) async throws -> SourceFile {
        do throws(SourceError) {
            return try await paths.pool(of: principal, forPath: file.path).run {
                [rights, principal] () throws(SourceError) in
                try rights.sources(of: principal).admit(file.path)
            }
        } catch {
            if error.isDescriptorShortage { throw ManagerError.outOfDescriptors }
            if error.isPermission {
                throw ManagerError.permissionDenied(path: path + file.field, reason: error.description)
            }
            throw ManagerError.invalidField(
                path: path + file.field, reason: error.description,
                expected: "the absolute path of a regular file that can be read")
        }
    }
}
