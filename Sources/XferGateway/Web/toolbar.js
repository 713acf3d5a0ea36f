import { byID, element, setText } from "./dom.js";
import { formatCount } from "./format.js";

/** The buttons for the selected tasks. */
export class Toolbar {
    constructor({ commands, selection, details, limitTask }) {
        this.commands = commands;
        this.selection = selection;
        const focused = () => selection.focused ?? [...selection.ids][0] ?? null;
        this.buttons = [
            ["Details", null, () => details.open(focused())],
            ["Pause", "pause", () => commands.pause()],
            ["Resume", "resume", () => commands.resume()],
            ["Retry", "retry", () => commands.retry()],
            ["Publish", "commit", () => commands.commit()],
            ["Open file", "open", () => commands.open()],
            ["Limit…", "limit", () => limitTask()],
            ["First", "move", () => commands.move("top")],
            ["Up", "move", () => commands.move("up")],
            ["Down", "move", () => commands.move("down")],
            ["Last", "move", () => commands.move("bottom")],
            ["Cancel…", "cancel", () => commands.cancel()],
            ["Remove…", "remove", () => commands.remove()],
        ].map(([text, command, run]) => {
            const node = element("button", { type: "button", textContent: text, on: { click: run } });
            return { node, command };
        });
        byID("toolbar").append(...this.buttons.map(({ node }) => node));
        this.update();
    }

    /** Shows what can be done with the selection. */
    update() {
        const { ids, isAll, isEmpty } = this.selection;
        setText(byID("selected"), isAll ? "all selected" : ids.size > 1 ? `${formatCount(ids.size)} selected` : "");
        for (const { node, command } of this.buttons) {
            node.hidden = command === null ? isEmpty : !this.commands.isPossible(command);
        }
    }
}
