import { byID, element, takesText } from "./dom.js";

/**
 * All keys, with what they do: the dispatcher and the dialog `?` are made from this table.
 *
 * `inList` keys work while the list has the focus, the others wherever no text is typed and no dialog is open.
 */
function table({ list, selection, details, commands, dialogs, views }) {
    const go = (step) => (event) => list.move(step(), event.shiftKey);
    const open = (name) => () => { if (!byID(`open-${name}`).hidden) dialogs[name].open(); };
    const focusRow = (index) => (event) => list.focusRow(index(), event.shiftKey);
    return [
        { keys: ["?"], text: "show the keys", run: () => dialogs.keys.showModal() },
        { keys: ["a"], text: "add tasks (or paste or drop URLs)", run: open("add") },
        { keys: ["g"], text: "groups and batches", run: open("groups") },
        { keys: ["L"], text: "limits and timetable", run: open("limits") },
        { keys: ["n"], text: "nodes of the fleet", run: open("nodes") },
        { keys: ["p"], text: "trust policies", run: open("trust") },
        { keys: [..."1234567"], text: "choose a view", run: (event) => views.choose(Number(event.key) - 1) },
        { keys: ["/"], text: "go to the list", run: () => list.node.focus() },
        { keys: ["Escape"], text: "close the details, or clear the selection",
            run: () => (details.isOpen ? details.close() : selection.clear()) },
        { inList: true, keys: ["ArrowDown", "j"], text: "next task; with Shift select more", run: go(() => 1) },
        { inList: true, keys: ["ArrowUp", "k"], text: "previous task", run: go(() => -1) },
        { inList: true, keys: ["PageDown"], text: "a page down", run: go(() => list.pageSize) },
        { inList: true, keys: ["PageUp"], text: "a page up", run: go(() => -list.pageSize) },
        { inList: true, keys: ["Home"], text: "first task", run: focusRow(() => 0) },
        { inList: true, keys: ["End"], text: "last task", run: focusRow(() => list.count - 1) },
        { inList: true, keys: ["Ctrl+a"], text: "select all tasks of the view", run: () => selection.chooseAll() },
        { inList: true, keys: ["Enter", "o"], text: "details", run: () => details.open(selection.focused) },
        { inList: true, keys: [" "], text: "pause, or resume", run: () => commands.toggle() },
        { inList: true, keys: ["r"], text: "retry a failed task, or start a waiting one now", run: () => commands.retry() },
        { inList: true, keys: ["c"], text: "cancel, after a question", run: () => commands.cancel() },
        { inList: true, keys: ["Delete"], text: "remove, after a question", run: () => commands.remove() },
        { inList: true, keys: ["f"], text: "open the file", run: () => commands.open() },
        { inList: true, keys: ["l"], text: "limit the rate of the task", run: () => dialogs.limitTask() },
        { inList: true, keys: ["Alt+ArrowUp"], text: "earlier in the view Queued", run: () => commands.move("up") },
        { inList: true, keys: ["Alt+ArrowDown"], text: "later in the view Queued", run: () => commands.move("down") },
        { inList: true, keys: ["t"], text: "first of its host in the queue", run: () => commands.move("top") },
        { inList: true, keys: ["b"], text: "last of its host in the queue", run: () => commands.move("bottom") },
    ];
}

const NAMES = { " ": "Space", ArrowUp: "↑", ArrowDown: "↓", PageUp: "PgUp", PageDown: "PgDn", Escape: "Esc" };

/** Makes the keys work, and writes them into the dialog that shows them. */
export function enableKeyboard(page) {
    const entries = table(page);
    document.addEventListener("keydown", (event) => {
        if (byID("queue").hidden || document.querySelector("dialog[open]") || takesText(event.target)) return;
        const isInList = page.list.node.contains(event.target);
        const key = nameOf(event);
        const entry = entries.find(({ keys, inList }) => keys.includes(key) && (!inList || isInList));
        if (!entry) return;
        event.preventDefault();
        entry.run(event);
    });
    byID("keys").replaceChildren(...entries.flatMap(({ keys, text }) => [
        element("dt", {}, ...keys.flatMap((key) => [element("kbd", { textContent: shownName(key) }), " "])),
        element("dd", { textContent: text }),
    ]));
}

/** The key with Ctrl and Alt; Shift is in the letter, and with arrows it selects. */
const nameOf = (event) =>
    `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.key}`;

const shownName = (key) => key.split("+").map((part) => NAMES[part] ?? part).join("+");
