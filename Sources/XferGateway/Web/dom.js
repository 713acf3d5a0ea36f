/**
 * Makes an element. Children are nodes or text, so text of the daemon never becomes HTML.
 *
 * `properties` are DOM properties; names with a hyphen and `role` are attributes, and `on` holds listeners.
 */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null) continue;
        if (name === "on") {
            for (const [type, listener] of Object.entries(value)) made.addEventListener(type, listener);
        } else if (name === "role" || name.includes("-")) {
            made.setAttribute(name, value);
        } else {
            made[name] = value;
        }
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/** The element with this id; index.html has it. */
export const byID = (id) => document.getElementById(id);

/** Writes text only where it differs: an equal text would be announced again. */
export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

/** Whether a key typed here is text for a field. */
export const takesText = (target) =>
    target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");
