import XferModel

extension TransferID {
    /// The number under which a task claims room for the copy of its bytes on another file system. No transfer and no
    /// brief run has it: theirs are the numbers above 0 and their negatives.
    static func copy(of task: TaskID) -> TransferID { TransferID(Int64.min + max(0, task.rawValue)) }
}
