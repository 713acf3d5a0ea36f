/// What a reload does: which new values take effect now, and which wait for a restart.
public struct SettingsReload: Hashable, Sendable {
    /// The settings in force from now on.
    public let inForce: LoadedSettings
    /// Keys whose new value took effect, in the order of `SettingKey.all`.
    public let applied: [String]
    /// Keys whose value in the file differs from the one in force until a restart.
    public let waitingForRestart: [String]
}

extension LoadedSettings {
    /// Compares with freshly loaded settings.
    public func reload(to newer: LoadedSettings) -> SettingsReload {
        var inForce = newer
        var applied: [String] = []
        var waiting: [String] = []
        for key in SettingKey.all where !key.isEqual(settings, newer.settings) {
            if key.appliesOnReload {
                applied.append(key.path)
            } else {
                waiting.append(key.path)
                key.copy(settings, &inForce.settings)
                inForce.origins[key.path] = origins[key.path]
            }
        }
        return SettingsReload(inForce: inForce, applied: applied, waitingForRestart: waiting)
    }
}
