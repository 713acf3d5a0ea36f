import { warn } from "./notices.js";

/**
 * Reorders the queue by dragging a row's grip.
 *
 * Pointer events serve mouse, pen and finger. The keyboard's way is Alt with an arrow.
 */
export function enableDragging(list, commands) {
    const { node } = list;
    let dragged = null;

    node.addEventListener("pointerdown", (event) => {
        if (!event.target.classList.contains("grip") || list.order.view.order !== "queue") return;
        const hit = list.rowAt(event.clientY);
        if (!hit) return;
        event.preventDefault();
        if (!list.selection.includes(hit.id)) list.selection.choose(hit.id);
        dragged = hit.id;
        node.setPointerCapture(event.pointerId);
        node.classList.add("dragging");
    });

    node.addEventListener("pointermove", (event) => {
        if (dragged === null) return;
        clearMarks(node);
        const hit = list.rowAt(event.clientY);
        if (hit && !list.selection.includes(hit.id)) hit.node.classList.add(hit.isLower ? "drop-after" : "drop-before");
    });

    node.addEventListener("pointerup", (event) => {
        if (dragged === null) return;
        const hit = list.rowAt(event.clientY);
        finish();
        if (!hit || list.selection.includes(hit.id)) return;
        const ids = list.order.ids.filter((id) => list.selection.includes(id));
        commands.moveTo(ids, { to: hit.isLower ? "after" : "before", target: hit.id }).catch(warn);
    });

    node.addEventListener("pointercancel", finish);

    function finish() {
        dragged = null;
        clearMarks(node);
        node.classList.remove("dragging");
    }
}

function clearMarks(node) {
    for (const row of node.querySelectorAll(".drop-before, .drop-after")) {
        row.classList.remove("drop-before", "drop-after");
    }
}
