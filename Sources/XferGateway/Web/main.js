import { AddDialog } from "./add-dialog.js";
import { Commands } from "./commands.js";
import { Details } from "./details.js";
import { byID, setText } from "./dom.js";
import { enableDragging } from "./dragging.js";
import { EventStream } from "./events.js";
import { GroupsDialog } from "./groups-dialog.js";
import { enableKeyboard } from "./keyboard.js";
import { LimitsDialog, limitTask } from "./limits-dialog.js";
import { NodesDialog } from "./nodes-dialog.js";
import { showError, warn } from "./notices.js";
import { Rates } from "./rates.js";
import { Selection } from "./selection.js";
import { logIn, logOut, mayHaveSession, tokenOfAddress } from "./session.js";
import { Summary } from "./summary.js";
import { explainEmptiness, TaskList } from "./task-list.js";
import { TaskOrder } from "./task-order.js";
import { TaskStore } from "./task-store.js";
import { Toolbar } from "./toolbar.js";
import { TrustDialog } from "./trust-dialog.js";
import { Views } from "./views.js";

/** Milliseconds between two readings of what no event tells, such as an update of a task by another client. */
const REFRESH = 15_000;

const rates = new Rates();
const summary = new Summary(rates);
const store = new TaskStore();
const order = new TaskOrder({ filter: { all: true }, order: "desc" });
const selection = new Selection();
const details = new Details();
const views = new Views((view) => {
    selection.clear();
    list.node.scrollTop = 0;
    list.node.classList.toggle("queue-order", view.order === "queue");
    order.show(view);
});
const list = new TaskList(byID("list"), { order, store, selection, rates, estimate: () => views.estimate() });
const commands = new Commands({ selection, order, store });
const limitFocused = () => commands.isPossible("limit") && limitTask([...selection.ids][0]);
const toolbar = new Toolbar({ commands, selection, details, limitTask: limitFocused });
const dialogs = {
    add: new AddDialog(), groups: new GroupsDialog((name) => views.chooseGroup(name)), limits: new LimitsDialog(),
    nodes: new NodesDialog(), trust: new TrustDialog(), keys: byID("keys-dialog"), limitTask: limitFocused,
};

let stream = null;

enableKeyboard({ list, selection, details, commands, dialogs, views });
enableDragging(list, commands);
enablePointer();
bindButtons();
bindModel();
setInterval(sample, 1000);
setInterval(refresh, REFRESH);
start();

/** Shows the queue if the page may have a session, else asks for a token. */
async function start() {
    const token = tokenOfAddress();
    if (token !== null && mayHaveSession()) {
        // A link must not replace the session of all tabs: the user would add tasks as another one.
        showLogin();
        byID("token").value = token;
    } else if (token !== null) await useToken(token);
    else if (mayHaveSession()) connect();
    else showLogin();
}

async function useToken(token) {
    try {
        await logIn(token);
        connect();
    } catch (error) {
        showLogin(error);
    }
}

function showLogin(error) {
    stream?.stop();
    stream = null;
    order.clear();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    document.body.classList.add("logged-out");
    byID("login").hidden = false;
    byID("queue").hidden = true;
    details.close();
    showError(byID("login-error"), error);
    byID("token").focus();
}

/** Follows the daemon's events until the user logs out or the token is refused. */
function connect() {
    stream?.stop();
    const current = new EventStream();
    stream = current;
    setText(byID("connection"), "connecting…");
    byID("connection").hidden = false;
    current.addEventListener("connected", ({ detail }) => {
        showQueue();
        summary.showConnection(true);
        summary.show(detail.status);
        showFleet(detail.status.node !== undefined);
        // What happened before is read now; what happens from now on comes as events.
        rates.forgetTasks();
        store.refreshAll();
        order.show(views.view);
        details.refresh();
    });
    current.addEventListener("disconnected", ({ detail }) => {
        showQueue();
        summary.showConnection(false, detail.reason);
    });
    current.addEventListener("event", ({ detail }) => {
        for (const part of [rates, store, order, summary, details]) part.apply(detail);
        if (detail.type === "task.removed") selection.forget(detail.task_id);
    });
    current.addEventListener("unauthorized", () => {
        logOut();
        showLogin(new Error("The daemon refuses the token. It may have been revoked or have expired."));
    });
    current.addEventListener("forbidden", showAddOnly);
    current.run();
}

function showQueue() {
    if (!byID("queue").hidden) return;
    document.body.classList.remove("logged-out", "add-only");
    byID("token").value = "";
    byID("login").hidden = true;
    byID("queue").hidden = false;
    list.node.focus();
}

/** A fleet has nodes; limits of one daemon and its trust policies are for that daemon's own page. */
function showFleet(isFleet) {
    byID("open-nodes").hidden = !isFleet;
    for (const name of ["limits", "trust"]) byID(`open-${name}`).hidden = isFleet;
    views.isFleet = isFleet;
}

/** A token of the scope `add` reads nothing: the page adds, and shows no list. */
function showAddOnly() {
    showQueue();
    document.body.classList.add("add-only");
    setText(byID("connection"), "This token can add tasks, but not list them. Press a, or drop URLs here.");
}

function bindModel() {
    for (const model of [order, store]) {
        // While there is no connection, the head of the page says so.
        model.addEventListener("failure", ({ detail }) => {
            if (!document.body.classList.contains("disconnected")) warn(detail);
        });
        model.addEventListener("change", () => toolbar.update());
    }
    list.onDraw = () => explainEmptiness(byID("empty"), list, views.name);
    selection.addEventListener("change", () => {
        toolbar.update();
        if (details.isOpen && selection.focused !== null) details.open(selection.focused);
    });
    summary.addEventListener("change", () => {
        views.showCounts(summary.counts);
        list.draw();
    });
    summary.addEventListener("silence", () => stream?.reconnect());
}

function bindButtons() {
    byID("login").addEventListener("submit", (event) => {
        event.preventDefault();
        useToken(byID("token").value);
    });
    byID("log-out").addEventListener("click", async () => {
        await logOut();
        showLogin();
    });
    for (const name of ["add", "groups", "limits", "nodes", "trust"]) {
        byID(`open-${name}`).addEventListener("click", () => dialogs[name].open());
    }
    byID("open-keys").addEventListener("click", () => dialogs.keys.showModal());
    for (const button of document.querySelectorAll("dialog .close")) {
        button.addEventListener("click", () => button.closest("dialog").close());
    }
}

function enablePointer() {
    list.node.addEventListener("click", (event) => {
        const hit = event.target.closest(".row") && list.rowAt(event.clientY);
        if (!hit) return;
        if (event.shiftKey) selection.extend(hit.id, order);
        else if (event.ctrlKey || event.metaKey) selection.toggle(hit.id);
        else selection.choose(hit.id);
    });
    list.node.addEventListener("dblclick", () => details.open(selection.focused));
}

function sample() {
    if (stream === null) return;
    rates.sample();
    summary.drawRates();
    list.draw();
}

function refresh() {
    if (stream === null || document.body.classList.contains("add-only")) return;
    summary.refresh();
    store.refreshAll();
    order.refresh();
}
