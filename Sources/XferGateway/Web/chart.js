const SVG = "http://www.w3.org/2000/svg";

/** Width and height of the drawing, in units of its own: style sheets give the size on screen. */
const WIDTH = 300;
const HEIGHT = 60;

/** A line with the area below it filled, for decoration: the same figures are on the page as text. */
export class Chart {
    constructor(className) {
        this.node = document.createElementNS(SVG, "svg");
        this.node.setAttribute("class", className);
        this.node.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
        this.node.setAttribute("preserveAspectRatio", "none");
        this.node.setAttribute("aria-hidden", "true");
        this.area = this.#path("area");
        this.line = this.#path("line");
    }

    /** Draws samples, the latest at the right edge; `length` of them fill the width. */
    draw(samples, length) {
        const top = Math.max(1, ...samples);
        const step = WIDTH / (length - 1);
        const left = WIDTH - (samples.length - 1) * step;
        const points = samples.map((value, index) => {
            const x = left + index * step;
            const y = HEIGHT - 1 - (value / top) * (HEIGHT - 4);
            return `${x.toFixed(1)} ${y.toFixed(1)}`;
        });
        const line = points.length > 1 ? `M${points.join("L")}` : "";
        this.line.setAttribute("d", line);
        this.area.setAttribute("d", line && `${line}L${WIDTH} ${HEIGHT}L${left.toFixed(1)} ${HEIGHT}Z`);
    }

    #path(className) {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("class", className);
        this.node.append(path);
        return path;
    }
}
