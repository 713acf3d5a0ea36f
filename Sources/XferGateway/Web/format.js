/** Numbers and times as the browser's language writes them. */

const count = new Intl.NumberFormat();
const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const percentage = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

export const formatCount = (number) => count.format(number);

/** `12 %`, rounded down: only what is whole has 100 %. */
export const formatShare = (share) => percentage.format(Math.floor(Math.min(Math.max(share, 0), 1) * 100) / 100);

const UNITS_OF_BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A size in binary units, as xferctl writes it: `8.0 MiB`. */
export function formatSize(number) {
    let index = 0;
    while (Math.abs(number) >= 1024 && index < UNITS_OF_BYTES.length - 1) {
        number /= 1024;
        index += 1;
    }
    const digits = index === 0 || Math.abs(number) >= 100 ? whole : tenths;
    return `${digits.format(number)} ${UNITS_OF_BYTES[index]}`;
}

/** A rate in the units of sizes: `500 KiB/s`. */
export const formatRate = (bytes) => `${formatSize(bytes)}/s`;

/** A limit of a rate: 0 is none. */
export const formatLimit = (bytes) => (bytes > 0 ? formatRate(bytes) : "unlimited");

const narrow = (unit) => new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "narrow" });

/** Formats and lengths in seconds. */
const UNITS = [[narrow("day"), 86_400], [narrow("hour"), 3_600], [narrow("minute"), 60], [narrow("second"), 1]];

/** A length of time in its two largest units: `3m 20s`. */
export function formatDuration(seconds) {
    let left = Math.max(0, Math.round(seconds));
    const parts = [];
    for (const [format, length] of UNITS) {
        const number = Math.floor(left / length);
        left -= number * length;
        if (number > 0 || (length === 1 && parts.length === 0)) parts.push(format.format(number));
        else if (parts.length > 0) break;
        if (parts.length === 2) break;
    }
    return parts.join(" ");
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A moment; today's without its date. */
export function formatMoment(text) {
    const moment = new Date(text);
    if (Number.isNaN(moment.getTime())) return text;
    return (moment.toDateString() === new Date().toDateString() ? time : dateAndTime).format(moment);
}

const RATE_UNITS = { "": 1, k: 1e3, m: 1e6, g: 1e9, ki: 1024, mi: 1024 ** 2, gi: 1024 ** 3 };

/** The bytes per second of `500K`, `1,5 Mi` or `0`. Throws an Error for people. */
export function parseRate(text) {
    const match = /^(\d+(?:[.,]\d+)?)\s*([kmg]i?)?(?:b(?:\/s)?)?$/i.exec(text.trim());
    const bytes = match && Math.round(Number(match[1].replace(",", ".")) * RATE_UNITS[(match[2] ?? "").toLowerCase()]);
    if (match === null || !Number.isSafeInteger(bytes)) {
        throw new Error(`"${text}" is not a rate. Enter bytes per second, such as 500K, 2Mi or 0 for unlimited.`);
    }
    return bytes;
}
