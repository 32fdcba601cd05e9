/* Draws the figures of a page from their tables, and lets tables be filtered, sorted and saved. */
(function () {
"use strict";
const COLOURS = 12, NS = "http://www.w3.org/2000/svg";

/* ---- elements ---- */

function make(name, attributes, text, space) {
    const one = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const key in attributes) one.setAttribute(key, attributes[key]);
    if (text !== undefined) one.textContent = text;
    return one;
}
function svg(parent, name, attributes, text) {
    return parent.appendChild(make(name, attributes, text, NS));
}
function add(parent, name, attributes, text) {
    return parent.appendChild(make(name, attributes, text));
}
function colour(i) {
    return "var(--k" + i % COLOURS + ")";
}
function percent(share) {
    return (100 * share).toFixed(1) + " %";
}
/* Parts with the same name have the same colour in all figures of issue slots. */
const uses = new Map();
function colours(names) {
    return names.map(name => {
        if (!uses.has(name)) uses.set(name, uses.size);
        return uses.get(name);
    });
}
/* Three digits and a prefix. */
function short(number) {
    const prefixes = ["", "k", "M", "G", "T", "P"];
    let i = 0;
    for (; Math.abs(number) >= 999.5 && i < prefixes.length - 1; i++) number /= 1000;
    return Number(number.toPrecision(3)) + (prefixes[i] ? " " + prefixes[i] : "");
}
function ticks(high) {
    const raw = (high || 1) / 4, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].find(n => n * power >= raw) * power, list = [];
    for (let value = 0; value <= high * 1.0001; value += step) list.push(value);
    return list;
}

/* The numbers of a figure: what its charts may show. */
function read(figure) {
    const rows = Array.from(figure.querySelectorAll("table tr"));
    const names = Array.from(rows.shift().children).slice(1).map(cell => cell.textContent);
    return {
        names: names,
        rows: rows.map(row => {
            const cells = Array.from(row.children).slice(1);
            return {
                label: row.children[0].textContent,
                kind: row.className,
                texts: cells.map(cell => cell.textContent),
                values: cells.map(cell => cell.dataset.v === undefined ? null : Number(cell.dataset.v))
            };
        })
    };
}
function canvas(figure, width, height, title) {
    const scroll = make("div", {"class": "scroll chart"});
    figure.insertBefore(scroll, figure.querySelector("details"));
    const root = make("svg", {viewBox: "0 0 " + width + " " + height, width: width, height: height, role: "img",
                              "aria-label": title}, undefined, NS);
    scroll.appendChild(root);
    return root;
}
function title_of(figure) {
    return figure.parentNode.querySelector("h2").textContent + ": the numbers are in the table below";
}

/* Names with colours; a click leaves a part out. `change` is called with the set of parts left out. */
function legend(figure, names, change, indices) {
    const off = new Set(), line = make("p", {"class": "legend"});
    figure.insertBefore(line, figure.querySelector("details"));
    names.forEach((name, i) => {
        const button = add(line, "button", {type: "button", "aria-pressed": "true"});
        add(button, "i", {style: "background: " + colour(indices ? indices[i] : i)});
        button.appendChild(document.createTextNode(name));
        button.addEventListener("click", () => {
            if (!off.delete(i)) off.add(i);
            button.setAttribute("aria-pressed", String(!off.has(i)));
            change(off);
        });
    });
}
function part(parent, x, y, width, height, index, value, text) {
    const rect = svg(parent, "rect", {x: x, y: y, width: Math.max(width, 0), height: height, "data-v": value,
                                      style: "fill: " + colour(index)});
    svg(rect, "title", {}, text);
    return rect;
}

/* ---- bars ---- */

const LEFT = 190, WIDE = 940, STEP = 26, BAR = 18;

function label(parent, text, y) {
    const shown = text.length > 28 ? text.slice(0, 27) + "\u2026" : text;
    const one = svg(parent, "text", {x: LEFT - 8, y: y + 13, "text-anchor": "end"}, shown);
    svg(one, "title", {}, text);
}

/* A bar for each row, of the parts that are its columns. */
function draw_stack(figure) {
    const data = read(figure), root = canvas(figure, LEFT + WIDE, data.rows.length * STEP + 4, title_of(figure));
    const indices = colours(data.names);
    let whole = false;
    function draw(off) {
        root.replaceChildren();
        const sums = data.rows.map(row => row.values.reduce((sum, v, i) => sum + (off.has(i) ? 0 : v || 0), 0));
        const most = Math.max.apply(null, sums);
        data.rows.forEach((row, r) => {
            let x = LEFT;
            label(root, row.label, r * STEP);
            row.values.forEach((value, i) => {
                if (!value || off.has(i)) return;
                const width = WIDE * value / (whole ? most : sums[r]);
                part(root, x, r * STEP, width, BAR, indices[i], value,
                     row.label + ", " + data.names[i] + ": " + row.texts[i] + ", " + percent(value / sums[r]));
                if (width > 44)
                    svg(root, "text", {x: x + width / 2, y: r * STEP + 13, "text-anchor": "middle",
                                       style: "fill: #fff; pointer-events: none"}, percent(value / sums[r]));
                x += width;
            });
        });
    }
    let left_out = new Set();
    legend(figure, data.names, off => { left_out = off; draw(off); }, indices);
    if (data.rows.length > 1) {
        const controls = make("p", {"class": "controls"});
        figure.insertBefore(controls, figure.firstChild);
        const button = add(controls, "button", {type: "button", "class": "scale"}, "Lengths: shares");
        button.addEventListener("click", () => {
            whole = !whole;
            button.textContent = whole ? "Lengths: numbers" : "Lengths: shares";
            draw(left_out);
        });
    }
    draw(left_out);
}

/* For each row a bar for each of the columns, to a common scale: `high`, or the largest value. */
function draw_bars(figure, high) {
    const data = read(figure);
    const columns = data.names.map((name, i) => i).filter(i => data.rows.some(row => row.values[i] !== null &&
        (!high || row.texts[i].endsWith("%"))));
    const step = columns.length * (BAR - 4) + 10;
    const root = canvas(figure, LEFT + WIDE, data.rows.length * step + 4, title_of(figure));
    const most = high || Math.max.apply(null, data.rows.map(row => Math.max.apply(null, columns.map(i => row.values[i] || 0))));
    data.rows.forEach((row, r) => {
        label(root, row.label, r * step);
        columns.forEach((i, n) => {
            const y = r * step + n * (BAR - 4), value = row.values[i];
            if (value === null) return;
            const width = (WIDE - 80) * value / (most || 1);
            part(root, LEFT, y, width, BAR - 5, n, value, row.label + ", " + data.names[i] + ": " + row.texts[i]);
            svg(root, "text", {x: LEFT + width + 6, y: y + 11}, row.texts[i]);
        });
        if (high) svg(root, "line", {"class": "grid", x1: LEFT + WIDE - 80, x2: LEFT + WIDE - 80, y1: r * step, y2: (r + 1) * step});
    });
    if (columns.length > 1) legend(figure, columns.map(i => data.names[i]), () => {});
}

/* Dynamic and static energy of each part: two columns for each run. */
function draw_energy(figure) {
    const data = read(figure), runs = data.names.length / 2, step = runs * (BAR - 4) + 10;
    const root = canvas(figure, LEFT + WIDE, data.rows.length * step + 4, title_of(figure));
    const sum = (row, r) => (row.values[2 * r] || 0) + (row.values[2 * r + 1] || 0);
    let most = 0;
    data.rows.forEach(row => { for (let r = 0; r < runs; r++) most = Math.max(most, sum(row, r)); });
    data.rows.forEach((row, n) => {
        label(root, row.label, n * step);
        for (let r = 0; r < runs; r++) {
            let x = LEFT;
            [0, 1].forEach(k => {
                const i = 2 * r + k, width = (WIDE - 80) * (row.values[i] || 0) / most;
                const rect = part(root, x, n * step + r * (BAR - 4), width, BAR - 5, r, row.values[i],
                                  row.label + ", " + data.names[i] + ": " + row.texts[i]);
                if (k) rect.setAttribute("class", "pale");
                x += width;
            });
        }
    });
    const note = make("p", {"class": "quiet"}, "Dark: dynamic; pale: static.");
    figure.insertBefore(note, figure.querySelector("details"));
    if (runs > 1) legend(figure, Array.from({length: runs}, (none, r) => data.names[2 * r].replace(/^dynamic, /, "")), () => {});
}

/* ---- over time ---- */

const PLOT = {left: 60, right: 16, top: 10, width: 1050, height: 200, below: 30};

/* A chart over time with its axes; a drag selects a range, a double click shows all again. `paint`
 * draws the rows from `first` to before `last`. */
function timeline(figure, data, paint) {
    const root = canvas(figure, PLOT.left + PLOT.width + PLOT.right, PLOT.top + PLOT.height + PLOT.below, title_of(figure));
    const readout = make("p", {"class": "readout", "aria-live": "polite"});
    figure.insertBefore(readout, figure.querySelector("details"));
    const ends = data.rows.map(row => row.values[0]);
    const start = i => i ? ends[i - 1] : 0;
    let range = [0, data.rows.length], drag = null;
    const x_of = cycle => PLOT.left + PLOT.width * (cycle - start(range[0])) / ((ends[range[1] - 1] - start(range[0])) || 1);
    function row_at(event) {
        const box = root.getBoundingClientRect();
        const x = (event.clientX - box.left) / box.width * (PLOT.left + PLOT.width + PLOT.right);
        const cycle = start(range[0]) + (x - PLOT.left) / PLOT.width * (ends[range[1] - 1] - start(range[0]));
        let i = range[0];
        while (i < range[1] - 1 && ends[i] <= cycle) i++;
        return i;
    }
    function draw() {
        root.replaceChildren();
        paint(root, range, i => x_of(start(i)), i => x_of(ends[i]));
        const from = start(range[0]), to = ends[range[1] - 1];
        ticks(to - from).forEach(tick => svg(root, "text", {x: x_of(from + tick), y: PLOT.top + PLOT.height + 18,
                                                             "text-anchor": "middle"}, short(from + tick)));
        svg(root, "line", {"class": "axis", x1: PLOT.left, x2: PLOT.left + PLOT.width, y1: PLOT.top + PLOT.height, y2: PLOT.top + PLOT.height});
    }
    function say(first, last) {
        const sums = data.names.map((name, i) => data.rows.slice(first, last + 1).reduce((sum, row) => sum + (row.values[i] || 0), 0));
        const all = sums.slice(1).reduce((a, b) => a + b, 0);
        readout.textContent = "cycles " + start(first) + " to " + ends[last] + ": " + data.names.slice(1).map((name, i) =>
            name + " " + (figure.dataset.kind === "area" ? percent(sums[i + 1] / (all || 1)) : short(sums[i + 1] / (last - first + 1)))).join(", ");
    }
    root.addEventListener("pointerdown", event => { drag = row_at(event); });
    root.addEventListener("pointermove", event => {
        const at = row_at(event);
        if (drag === null) { say(at, at); return; }
        draw();
        const a = Math.min(drag, at), b = Math.max(drag, at);
        svg(root, "rect", {"class": "select", x: x_of(start(a)), width: Math.max(x_of(ends[b]) - x_of(start(a)), 0), y: PLOT.top, height: PLOT.height});
        say(a, b);
    });
    root.addEventListener("pointerup", event => {
        const at = row_at(event), a = Math.min(drag, at), b = Math.max(drag, at);
        if (drag !== null && b > a) range = [a, b + 1];
        drag = null;
        draw();
        say(range[0], range[1] - 1);
    });
    root.addEventListener("dblclick", () => { range = [0, data.rows.length]; draw(); say(0, data.rows.length - 1); });
    draw();
    return draw;
}
function axis(root, high, text) {
    ticks(high).forEach(tick => {
        const y = PLOT.top + PLOT.height * (1 - tick / high);
        svg(root, "line", {"class": "grid", x1: PLOT.left, x2: PLOT.left + PLOT.width, y1: y, y2: y});
        svg(root, "text", {x: PLOT.left - 6, y: y + 4, "text-anchor": "end"}, text(tick));
    });
}

/* Columns stacked over time: as shares of their sum, or as numbers. */
function draw_area(figure, shares) {
    const data = read(figure), names = data.names.slice(1);
    const indices = shares ? colours(names) : names.map((name, i) => i);
    let off = new Set();
    const sum = row => row.values.reduce((all, v, i) => all + (i && !off.has(i - 1) ? v || 0 : 0), 0);
    const draw = timeline(figure, data, (root, range, left, right) => {
        const high = shares ? 1 : Math.max.apply(null, data.rows.map(sum)) || 1;
        axis(root, high, shares ? percent : short);
        for (let n = range[0]; n < range[1]; n++) {
            const row = data.rows[n], all = shares ? sum(row) || 1 : high;
            let y = PLOT.top + PLOT.height;
            row.values.forEach((value, i) => {
                if (!i || !value || off.has(i - 1)) return;
                const height = PLOT.height * value / all;
                y -= height;
                part(root, left(n), y, right(n) - left(n) + 0.3, height, indices[i - 1], value,
                     data.names[i] + ": " + row.texts[i] + " in cycles " + row.label + " to " + row.values[0]);
            });
        }
    });
    legend(figure, names, left_out => { off = left_out; draw(); }, indices);
}
function draw_lines(figure) {
    const data = read(figure);
    let off = new Set();
    const draw = timeline(figure, data, (root, range, left, right) => {
        axis(root, 1, percent);
        data.names.forEach((name, i) => {
            if (!i || off.has(i - 1)) return;
            let path = "";
            for (let n = range[0]; n < range[1]; n++) {
                const value = data.rows[n].values[i], y = PLOT.top + PLOT.height * (1 - value);
                if (value !== null) path += (path ? "L" : "M") + left(n).toFixed(1) + " " + y.toFixed(1) + "H" + right(n).toFixed(1);
            }
            svg(root, "path", {"class": "line", d: path, style: "stroke: " + colour(i - 1)});
        });
    });
    legend(figure, data.names.slice(1), left_out => { off = left_out; draw(); });
}

/* ---- other figures ---- */

function draw_memory(figure) {
    const data = read(figure), runs = data.rows.length / 4, line = 15, wide = 220, gap = 80;
    const height = 46 + runs * 2 * line, root = canvas(figure, 4 * wide + 3 * gap + 4, height, title_of(figure));
    for (let level = 0; level < 4; level++) {
        const x = level * (wide + gap) + 1, first = data.rows[level * runs];
        svg(root, "rect", {"class": "box", x: x, y: 1, width: wide, height: height - 4});
        svg(root, "text", {x: x + wide / 2, y: 18, "text-anchor": "middle", "font-weight": "bold"}, runs > 1 ? first.label.replace(/, [^,]*$/, "") : first.label);
        for (let r = 0; r < runs; r++) {
            const row = data.rows[level * runs + r], y = 36 + r * 2 * line;
            svg(root, "text", {x: x + 8, y: y}, row.texts[0] + (level ? " reads" : " accesses"));
            if (row.texts[1]) svg(root, "text", {x: x + 8, y: y + line}, row.texts[1] + (level === 3 ? " row hits" : " hits"));
            if (!row.texts[2] && !row.texts[3]) continue;
            svg(root, "text", {x: x + wide + 4, y: y, "font-size": 11}, "\u2192 " + row.texts[2]);
            svg(root, "text", {x: x + wide + 4, y: y + line, "font-size": 11}, "\u2190 " + row.texts[3]);
        }
    }
}
function draw_roofline(figure) {
    const data = read(figure), width = 1040, height = 340, left = 70, top = 12;
    const root = canvas(figure, left + width + 20, top + height + 36, title_of(figure));
    const roofs = data.rows.filter(row => row.kind === "roof"), points = data.rows.filter(row => row.kind !== "roof");
    const xs = points.map(p => p.values[0]).concat(roofs.filter(r => r.values[0] > 0).map(r => r.values[1] / r.values[0]));
    const ys = points.map(p => p.values[1]).concat(roofs.map(r => r.values[1]));
    if (!xs.length) return;
    const x0 = Math.floor(Math.log10(Math.min.apply(null, xs)) - 0.3), x1 = Math.ceil(Math.log10(Math.max.apply(null, xs)) + 0.3);
    const y0 = Math.floor(Math.log10(Math.min.apply(null, ys)) - 0.3), y1 = Math.ceil(Math.log10(Math.max.apply(null, ys)));
    const x_of = v => left + width * (Math.log10(v) - x0) / (x1 - x0), y_of = v => top + height * (1 - (Math.log10(v) - y0) / (y1 - y0));
    for (let e = x0; e <= x1; e++) {
        svg(root, "line", {"class": "grid", x1: x_of(Math.pow(10, e)), x2: x_of(Math.pow(10, e)), y1: top, y2: top + height});
        svg(root, "text", {x: x_of(Math.pow(10, e)), y: top + height + 18, "text-anchor": "middle"}, e < 0 ? Math.pow(10, e).toPrecision(1) : short(Math.pow(10, e)));
    }
    for (let e = y0; e <= y1; e++) {
        svg(root, "line", {"class": "grid", y1: y_of(Math.pow(10, e)), y2: y_of(Math.pow(10, e)), x1: left, x2: left + width});
        svg(root, "text", {x: left - 6, y: y_of(Math.pow(10, e)) + 4, "text-anchor": "end"}, short(Math.pow(10, e)));
    }
    svg(root, "text", {x: left + width / 2, y: top + height + 34, "text-anchor": "middle"}, "thread instructions a byte");
    roofs.forEach(roof => {
        const bytes = roof.values[0], high = roof.values[1], low_x = Math.pow(10, x0), high_x = Math.pow(10, x1);
        const bend = bytes > 0 ? Math.max(high / bytes, low_x) : low_x, low = bytes > 0 ? Math.min(high, bytes * low_x) : high;
        const y_low = Math.min(y_of(Math.max(low, Math.pow(10, y0))), top + height);
        const x_low = bytes > 0 ? Math.max(x_of(Math.max(Math.pow(10, y0) / bytes, low_x)), left) : left;
        const path = svg(root, "path", {"class": "roof", d: "M" + x_low + " " + y_low + "L" + Math.min(x_of(bend), left + width) + " " + y_of(bytes > 0 ? Math.min(high, bytes * Math.max(bend, low_x)) : high) + "H" + (left + width)});
        svg(path, "title", {}, roof.label);
        if (bytes > 0) svg(root, "text", {x: x_low + 6, y: y_low - 6}, roof.label);
        else svg(root, "text", {x: left + width - 4, y: y_of(high) - 6, "text-anchor": "end"}, roof.label);
    });
    points.forEach((point, i) => {
        const dot = svg(root, "circle", {cx: x_of(point.values[0]), cy: y_of(point.values[1]), r: 5, "data-v": point.values[1], style: "fill: " + colour(i)});
        svg(dot, "title", {}, point.label + ": " + point.texts[0] + " instructions a byte, " + short(point.values[1]) + " a second");
    });
    legend(figure, points.map(p => p.label), () => {});
}

/* ---- tables ---- */

function csv(rows) {
    return rows.map(row => Array.from(row.children).map(cell => {
        const text = cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
        return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    }).join(",")).join("\n") + "\n";
}
function save(figure) {
    const table = figure.querySelector("table"), details = figure.querySelector("details");
    const button = make("button", {type: "button", "class": "save"}, "Save as CSV");
    button.addEventListener("click", () => {
        const rows = Array.from(table.querySelectorAll("tr")).filter(row => row.style.display !== "none");
        const link = make("a", {href: "data:text/csv;charset=utf-8," + encodeURIComponent(csv(rows)), download: figure.parentNode.id + ".csv"});
        link.click();
    });
    const line = make("p", {"class": "controls"});
    line.appendChild(button);
    details.insertBefore(line, details.children[1]);
    return line;
}
function sortable(table) {
    const head = table.querySelector("tr");
    Array.from(head.children).forEach((cell, i) => {
        cell.setAttribute("role", "button");
        cell.setAttribute("tabindex", "0");
        let down = false;
        const sort = () => {
            down = !down;
            const rows = Array.from(table.querySelectorAll("tr")).slice(1);
            const key = row => { const c = row.children[i]; return c.dataset.v === undefined ? c.textContent : Number(c.dataset.v); };
            rows.sort((a, b) => {
                const x = key(a), y = key(b);
                const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
                return down ? -order : order;
            });
            rows.forEach(row => head.parentNode.appendChild(row));
        };
        cell.addEventListener("click", sort);
        cell.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
    });
}
function filter(figure, line) {
    const input = make("input", {type: "search", placeholder: "filter", "aria-label": "filter rows"});
    line.insertBefore(input, line.firstChild);
    input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/);
        Array.from(figure.querySelectorAll("tr")).slice(1).forEach(row => {
            const text = row.textContent.toLowerCase();
            row.style.display = words.every(word => text.includes(word)) ? "" : "none";
        });
    });
}

/* ---- listings ---- */

/* Shades the rows by a metric of the first run. */
function shade(figure, metric) {
    figure.querySelectorAll("table").forEach(table => {
        const cells = Array.from(table.querySelectorAll("td[data-m=" + metric + "]"));
        const most = Math.max.apply(null, cells.map(cell => Number(cell.dataset.v)).concat([0])) || 1;
        table.querySelectorAll("td[data-m]").forEach(cell => { cell.style.background = ""; });
        cells.forEach(cell => {
            const share = 100 * Number(cell.dataset.v) / most;
            cell.style.background = "linear-gradient(to right, color-mix(in srgb, var(--k1) 45%, transparent) " + share + "%, transparent " + share + "%)";
        });
    });
}
function draw_listing(figure) {
    const lines = figure.querySelector("table.lines"), code = figure.querySelector("table.code");
    const controls = make("p", {"class": "controls"}), choice = add(controls, "select", {"aria-label": "shade by"});
    const names = {share: "slots", lost: "lost slots", issued: "issued", energy: "energy", ace: "ACE"};
    for (const metric in names)
        if (figure.querySelector("td[data-m=" + metric + "]")) add(choice, "option", {value: metric}, "shade: " + names[metric]);
    figure.insertBefore(controls, figure.children[1]);
    choice.addEventListener("change", () => shade(figure, choice.value));
    if (choice.value) shade(figure, choice.value);
    lines.addEventListener("click", event => {
        const row = event.target.closest("tr.cost");
        if (!row || !lines.contains(row)) return;
        if (row.nextSibling && row.nextElementSibling && row.nextElementSibling.className === "inst") {
            while (row.nextElementSibling && row.nextElementSibling.className === "inst") row.nextElementSibling.remove();
            return;
        }
        Array.from(code.querySelectorAll("tr.cost")).filter(one => one.dataset.line === row.dataset.line).reverse().forEach(one => {
            const copy = one.cloneNode(true);
            copy.className = "inst";
            row.after(copy);
        });
    });
}

/* ---- over cores, over time ---- */

/* Rows are cores, columns the ends of spans of time: the darker, the more. */
function draw_heat(figure) {
    const data = read(figure), high = Math.min(Math.max(320 / data.rows.length, 5), BAR), width = PLOT.width / data.names.length;
    const root = canvas(figure, PLOT.left + PLOT.width + PLOT.right, data.rows.length * high + PLOT.below, title_of(figure));
    const most = Math.max.apply(null, data.rows.map(row => Math.max.apply(null, row.values))) || 1;
    data.rows.forEach((row, r) => {
        if (high > 9 || !(r % 4)) svg(root, "text", {x: PLOT.left - 6, y: r * high + Math.min(high, 12), "text-anchor": "end"}, row.label);
        row.values.forEach((value, i) => {
            const rect = part(root, PLOT.left + i * width, r * high, width + 0.3, high - 0.5, 0, value,
                              "core " + row.label + ": " + row.texts[i] + " blocks, up to cycle " + data.names[i]);
            rect.style.fillOpacity = value / most;
        });
    });
    const last = data.names.length - 1;
    [0, 0.25, 0.5, 0.75, 1].map(share => Math.round(share * last)).forEach(i =>
        svg(root, "text", {x: PLOT.left + (i + 1) * width, y: data.rows.length * high + 18, "text-anchor": i ? "end" : "middle"}, short(Number(data.names[i]))));
    figure.insertBefore(make("p", {"class": "quiet"}, "Dark: " + short(most) + " blocks; white: none."), figure.querySelector("details"));
}

/* Spans of time on lanes, of one core at a time. With chains, a click on a span or its row shows why. */
function draw_spans(figure) {
    const data = read(figure), elements = Array.from(figure.querySelectorAll("table tr")).slice(1);
    const chains = figure.querySelector("script.chains") && JSON.parse(figure.querySelector("script.chains").textContent);
    const reason = data.names.indexOf("why"), indices = reason < 0 ? [] : colours(data.rows.map(row => row.texts[reason]));
    const core_of = row => Number(/core (\d+)/.exec(row.label)[1]), slot_of = row => Number((/slot (\d+)/.exec(row.label) || [0, 0])[1]);
    const cores = Array.from(new Set(data.rows.map(core_of))), high = 15;
    const controls = make("p", {"class": "controls"}), choice = add(controls, "select", {"aria-label": "core"});
    const answer = make("div", {"class": "chain", "aria-live": "polite"});
    cores.slice().sort((a, b) => a - b).forEach(core => add(choice, "option", {value: core}, "core " + core));
    choice.value = cores[0];
    figure.insertBefore(controls, figure.firstChild);
    const root = canvas(figure, PLOT.left + PLOT.width + PLOT.right, 100, title_of(figure));
    if (chains) figure.insertBefore(answer, figure.querySelector("details"));
    function explain(n) {
        answer.replaceChildren();
        add(answer, "p", {}, data.rows[n].label + ", cycles " + data.rows[n].values[0] + " to " + data.rows[n].values[1] + ":");
        const list = add(answer, "table", {});
        const head = add(list, "tr", {"class": "head"});
        ["cycles", "length", "what"].forEach((name, i) => add(head, "th", {scope: "col", "class": i > 1 ? "text" : ""}, name));
        chains.chains[n].forEach(link => {
            const row = add(list, "tr", {}), known = link[2] >= 0;
            add(row, "td", {}, link[1] + (known ? link[2] > link[1] ? "-" + link[2] : "" : "-"));
            add(row, "td", {}, known && link[2] > link[1] ? String(link[2] - link[1]) : "");
            add(row, "td", {"class": "text", style: "padding-left: " + (0.6 + 1.2 * link[0]) + "rem"}, chains.texts[link[3]]);
        });
        elements.forEach((one, i) => one.classList.toggle("differs", i === n));
    }
    function draw() {
        const shown = data.rows.map((row, n) => n).filter(n => core_of(data.rows[n]) === Number(choice.value));
        const from = Math.min.apply(null, shown.map(n => data.rows[n].values[0])), to = Math.max.apply(null, shown.map(n => data.rows[n].values[1]));
        const slots = Array.from(new Set(shown.map(n => slot_of(data.rows[n])))).sort((a, b) => a - b), ends = [];
        const x_of = cycle => PLOT.left + PLOT.width * (cycle - from) / (to - from || 1);
        root.replaceChildren();
        shown.sort((a, b) => data.rows[a].values[0] - data.rows[b].values[0]).forEach(n => {
            const row = data.rows[n];
            let lane = slots.indexOf(slot_of(row));
            if (reason < 0) { /* the first lane that is free */
                for (lane = 0; ends[lane] > row.values[0];) lane++;
                ends[lane] = row.values[1];
            }
            const rect = part(root, x_of(row.values[0]), lane * high, Math.max(x_of(row.values[1]) - x_of(row.values[0]), 1), high - 3,
                              reason < 0 ? 0 : indices[n], row.values[2], row.label + ": " + row.texts.slice(2).join(", "));
            if (!chains) return;
            rect.setAttribute("tabindex", "0");
            rect.setAttribute("role", "button");
            rect.setAttribute("aria-label", row.label + ", " + row.texts[reason] + ", cycles " + row.values[0] + " to " + row.values[1]);
            rect.addEventListener("click", () => explain(n));
            rect.addEventListener("keydown", event => { if (event.key === "Enter") explain(n); });
        });
        const lanes = reason < 0 ? ends.length : slots.length;
        if (reason >= 0) slots.forEach((slot, i) => svg(root, "text", {x: PLOT.left - 6, y: i * high + 11, "text-anchor": "end"}, "slot " + slot));
        ticks(to - from).forEach(tick => svg(root, "text", {x: x_of(from + tick), y: lanes * high + 16, "text-anchor": "middle"}, String(from + tick)));
        root.setAttribute("height", lanes * high + PLOT.below);
        root.setAttribute("viewBox", "0 0 " + (PLOT.left + PLOT.width + PLOT.right) + " " + (lanes * high + PLOT.below));
    }
    choice.addEventListener("change", draw);
    if (chains)
        elements.forEach((one, n) => {
            one.style.cursor = "pointer";
            one.addEventListener("click", () => explain(n));
        });
    if (reason >= 0) {
        const seen = Array.from(new Set(data.rows.map(row => row.texts[reason])));
        const line = make("p", {"class": "legend"});
        seen.forEach(name => {
            const one = add(line, "span", {});
            add(one, "i", {style: "background: " + colour(colours([name])[0])});
            one.appendChild(document.createTextNode(name + " "));
        });
        figure.insertBefore(line, figure.querySelector("details"));
    }
    draw();
}

const drawers = {
    stack: draw_stack, bars: figure => draw_bars(figure, 0), share: figure => draw_bars(figure, 1), energy: draw_energy,
    area: figure => draw_area(figure, true), power: figure => draw_area(figure, false), lines: draw_lines,
    memory: draw_memory, roofline: draw_roofline, heat: draw_heat, spans: draw_spans
};
document.querySelectorAll("figure[data-kind]").forEach(figure => {
    const kind = figure.dataset.kind;
    if (kind === "listing") { draw_listing(figure); return; }
    if (drawers[kind]) drawers[kind](figure);
    const line = save(figure);
    sortable(figure.querySelector("table"));
    if (kind === "table") filter(figure, line);
});
document.documentElement.dataset.drawn = "true";
})();
