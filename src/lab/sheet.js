/* Explores the table of a sweep: filter, sort, save, a scatter of any two columns with its Pareto front, and a heat map
   over any two axes. All numbers come from the cells of the table. */
(function () {
"use strict";
const NS = "http://www.w3.org/2000/svg";
const table = document.querySelector("table.values");
if (!table) return;
const head = Array.from(table.querySelectorAll("thead th")), rows = Array.from(table.querySelectorAll("tbody tr"));
const names = head.map(cell => cell.textContent);
const axes = names.map((name, i) => i).filter(i => head[i].className === "text" && i < names.length - 1);
const columns = names.map((name, i) => i).filter(i => head[i].className !== "text");

function make(parent, name, attributes, text, space) {
    const one = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const key in attributes) one.setAttribute(key, attributes[key]);
    if (text !== undefined) one.textContent = text;
    return parent.appendChild(one);
}
function value(row, i) {
    const given = row.children[i].dataset.v;
    return given === undefined ? null : Number(given);
}
function shown() {
    return rows.filter(row => row.style.display !== "none");
}
function label(row) {
    return axes.map(i => names[i] + "=" + row.children[i].textContent).join(", ");
}
function short(number) {
    return Math.abs(number) >= 1e5 || (number && Math.abs(number) < 1e-3) ? number.toExponential(2) : String(Number(number.toPrecision(4)));
}
function choose(parent, what, list, chosen, change) {
    const place = make(parent, "label", {}, what + " "), choice = make(place, "select", {});
    list.forEach(i => make(choice, "option", {value: i}, i < 0 ? "none" : names[i]));
    choice.value = chosen;
    choice.addEventListener("change", change);
    return choice;
}
function ticks(low, high) {
    const raw = (high - low || 1) / 4, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].find(n => n * power >= raw) * power, list = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) list.push(at);
    return list;
}

/* ---- table ---- */

const box = table.parentNode, section = make(document.createElement("div"), "section", {"class": "explore"});
box.parentNode.insertBefore(section, box);
const bar = make(section, "p", {"class": "controls"});
const filter = make(bar, "input", {type: "search", placeholder: "filter: words, or cycles<5000", "aria-label": "filter rows", size: 34});
const said = make(bar, "span", {"class": "quiet"});
const save = make(bar, "button", {type: "button", "class": "save"}, "Save as CSV");

/* A word is text that the row has, or COLUMN<NUMBER, COLUMN>NUMBER, AXIS=VALUE. */
function accepts(row, word) {
    const compare = /^(.+?)([<>=])(.*)$/.exec(word), at = compare ? names.findIndex(name => name.toLowerCase() === compare[1]) : -1;
    if (at < 0) return row.textContent.toLowerCase().includes(word);
    const text = row.children[at].textContent.toLowerCase(), number = value(row, at) === null ? Number(text) : value(row, at);
    if (compare[2] === "=") return text === compare[3];
    return compare[2] === "<" ? number < Number(compare[3]) : number > Number(compare[3]);
}
function sift() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(word => word);
    rows.forEach(row => { row.style.display = words.every(word => accepts(row, word)) ? "" : "none"; });
    said.textContent = " " + shown().length + " of " + rows.length + " points ";
    draw();
}
filter.addEventListener("input", sift);
save.addEventListener("click", () => {
    const quote = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    const cells = row => Array.from(row.children).map(cell => quote(cell.dataset.v === undefined ? cell.textContent : cell.dataset.v)).join(",");
    const text = [names.map(quote).join(",")].concat(shown().map(cells)).join("\n") + "\n";
    const link = make(document.createElement("p"), "a", {href: "data:text/csv;charset=utf-8," + encodeURIComponent(text), download: "points.csv"});
    link.click();
});
head.forEach((cell, i) => {
    let down = true;
    cell.setAttribute("role", "button");
    cell.addEventListener("click", () => {
        down = !down;
        const key = row => value(row, i) === null ? row.children[i].textContent : value(row, i);
        rows.sort((a, b) => {
            const x = key(a), y = key(b), numbers = typeof x === "number" && typeof y === "number";
            return (numbers ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true})) * (down ? -1 : 1);
        });
        rows.forEach(row => row.parentNode.appendChild(row));
    });
});

/* ---- scatter ---- */

const options = make(section, "p", {"class": "controls"});
const pick = i => columns[Math.min(i, columns.length - 1)];
const x = choose(options, "across", columns, pick(0), draw), y = choose(options, "up", columns, pick(columns.length - 1), draw);
const tint = choose(options, "colour", [-1].concat(axes), axes.length ? axes[0] : -1, draw);
const front = make(make(options, "label", {}, "Pareto front: "), "select", {"class": "wanted"});
[["1 1", "less of both"], ["1 -1", "less across, more up"], ["-1 1", "more across, less up"], ["-1 -1", "more of both"], ["", "none"]]
    .forEach(one => make(front, "option", {value: one[0]}, one[1]));
front.addEventListener("change", draw);
const plot = make(make(section, "div", {"class": "scroll"}), "svg", {"class": "scatter", width: 760, height: 330, viewBox: "0 0 760 330"}, undefined, NS);
const key = make(section, "p", {"class": "legend"});

/* Points of which no other is better in one and not worse in the other; a sign of 1: less is better. */
function pareto(points, sign_x, sign_y) {
    const sorted = points.slice().sort((a, b) => sign_x * (a.x - b.x) || sign_y * (a.y - b.y)), best = [];
    sorted.forEach(point => {
        if (!best.length || sign_y * (point.y - best[best.length - 1].y) < 0) best.push(point);
    });
    return best;
}
function draw_scatter() {
    plot.replaceChildren();
    key.replaceChildren();
    const points = shown().map(row => ({row: row, x: value(row, Number(x.value)), y: value(row, Number(y.value))}))
        .filter(point => point.x !== null && point.y !== null);
    if (!points.length) return;
    const reach = of => [Math.min.apply(null, points.map(of)), Math.max.apply(null, points.map(of))];
    const [x0, x1] = reach(p => p.x), [y0, y1] = reach(p => p.y);
    const x_of = v => 80 + 660 * (v - x0) / (x1 - x0 || 1), y_of = v => 290 - 270 * (v - y0) / (y1 - y0 || 1);
    ticks(x0, x1).forEach(tick => {
        make(plot, "line", {"class": "grid", x1: x_of(tick), x2: x_of(tick), y1: 20, y2: 290}, undefined, NS);
        make(plot, "text", {x: x_of(tick), y: 308, "text-anchor": "middle"}, short(tick), NS);
    });
    ticks(y0, y1).forEach(tick => {
        make(plot, "line", {"class": "grid", y1: y_of(tick), y2: y_of(tick), x1: 80, x2: 740}, undefined, NS);
        make(plot, "text", {x: 74, y: y_of(tick) + 4, "text-anchor": "end"}, short(tick), NS);
    });
    make(plot, "text", {x: 410, y: 326, "text-anchor": "middle"}, names[x.value], NS);
    make(plot, "text", {x: 80, y: 14}, names[y.value], NS);
    const groups = [];
    points.forEach(point => {
        const name = tint.value < 0 ? "" : point.row.children[tint.value].textContent;
        if (!groups.includes(name)) groups.push(name);
        const dot = make(plot, "circle", {"class": "c" + groups.indexOf(name) % 8 + " ours", cx: x_of(point.x), cy: y_of(point.y), r: 4,
                                          "data-x": point.x, "data-y": point.y}, undefined, NS);
        make(dot, "title", {}, label(point.row) + ": " + short(point.x) + ", " + short(point.y), NS);
    });
    if (front.value) {
        const best = pareto(points, ...front.value.split(" ").map(Number));
        make(plot, "polyline", {"class": "front", points: best.map(p => x_of(p.x) + "," + y_of(p.y)).join(" "), "data-points": best.length}, undefined, NS);
    }
    if (groups.length > 1) groups.forEach((name, i) => {
        const one = make(key, "span", {}), dot = make(one, "svg", {width: 14, height: 12}, undefined, NS);
        make(dot, "rect", {"class": "c" + i % 8 + " ours", width: 12, height: 12}, undefined, NS);
        one.appendChild(document.createTextNode(" " + name));
    });
}

/* ---- heat map ---- */

const several = axes.filter(i => new Set(rows.map(row => row.children[i].textContent)).size > 1);
let heat = null, down, across, what;
if (several.length > 1 && columns.length) {
    const line = make(section, "p", {"class": "controls"});
    what = choose(line, "heat map of", columns, pick(0), draw);
    down = choose(line, "by", several, several[0], draw);
    across = choose(line, "and", several, several[1], draw);
    heat = make(make(section, "div", {"class": "scroll"}), "table", {"class": "heat"});
}
/* The mean over all points that are shown and have these two values. */
function draw_heat() {
    if (!heat) return;
    heat.replaceChildren();
    const sums = new Map(), list = shown().filter(row => value(row, Number(what.value)) !== null);
    const seen = i => Array.from(new Set(list.map(row => row.children[i].textContent)));
    list.forEach(row => {
        const at = JSON.stringify([row.children[down.value].textContent, row.children[across.value].textContent]);
        const sum = sums.get(at) || {total: 0, count: 0};
        sums.set(at, {total: sum.total + value(row, Number(what.value)), count: sum.count + 1});
    });
    const means = Array.from(sums.values()).map(sum => sum.total / sum.count);
    const low = Math.min.apply(null, means), high = Math.max.apply(null, means);
    const first = make(heat, "tr", {});
    make(first, "th", {}, names[down.value] + " \\ " + names[across.value]);
    seen(across.value).forEach(name => make(first, "th", {}, name));
    seen(down.value).forEach(name => {
        const line = make(heat, "tr", {});
        make(line, "th", {}, name);
        seen(across.value).forEach(other => {
            const sum = sums.get(JSON.stringify([name, other]));
            const mean = sum ? sum.total / sum.count : null;
            const share = sum ? Math.round(10 + 60 * (mean - low) / (high - low || 1)) : 0;
            make(line, "td", sum ? {"data-v": mean, style: "background: color-mix(in srgb, #0072b2 " + share + "%, transparent)"} : {},
                 sum ? short(mean) : "-");
        });
    });
}
function draw() {
    draw_scatter();
    draw_heat();
}
sift();
document.documentElement.dataset.drawn = "true";
})();
