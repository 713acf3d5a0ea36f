import Glibc

extension LoadedSettings {
    /// Loads the settings for a start or a reload: the instance's file, overridden by the environment and the flags.
    public static func load(
        _ instance: InstancePaths, flags: [String: String] = [:], environment: [String: String]
    ) throws(SettingsRejection) -> LoadedSettings {
        let file = try ConfigurationFile.read(instance)
        return try LoadedSettings(flags: flags, environment: environment, file: file, instance: instance)
    }
}

/// Reads the configuration file of an instance.
public enum ConfigurationFile {
    /// The file's text; nil if the file does not exist and is not required.
    ///
    /// - Throws: if a required file does not exist, or if the file cannot be read, is too long or is not UTF-8.
    public static func read(_ instance: InstancePaths) throws(SettingsRejection) -> ConfigurationText? {
        let path = instance.configurationFile
        func refusal(_ message: String) -> SettingsRejection {
            SettingsRejection(
                problems: [SettingsProblem(origin: .file(path: path, position: nil), message: message)])
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT, !instance.isConfigurationFileRequired { return nil }
            throw refusal("cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= ConfigurationNode.maxBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw refusal("cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= ConfigurationNode.maxBytes else {
            throw refusal("longer than \(ConfigurationNode.maxBytes) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refusal("not UTF-8") }
        return ConfigurationText(path: path, text: text)
    }
}
