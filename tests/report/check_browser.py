#!/usr/bin/env python3
"""Pages in a browser: check_browser.py HEDDLE KERNEL [PICTURES]

Chromium draws a page of one run and one of two; charts are clicked, zoomed, filtered, sorted and printed. Every bar,
point and area shows the number of its table's cell. Nothing is requested but the page, and the console stays empty.
With a folder, screenshots are left there: report.png and window.png are the pictures of docs/report.md. Exit code 77: no Chromium.
"""
import base64
import csv
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from page import Page

HEDDLE, KERNEL = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
RUN = (str(HEDDLE), "run", KERNEL.name, "--machine", "gtx480", "--grid", "24", "--block", "96", "--arg", "zero:64K",
       "--arg", "zero:64K", "--arg", "u32:1024", "--quiet", "--interval", "100:%s.csv", "--stats", "%s.json")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,1000")


class Browser:
    """A session of Chromium over the WebDriver protocol."""

    def __init__(self, profile):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL)
        for _ in range(100):
            try:
                if self.call("GET", "/status", session=False)["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"], "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}}, session=False)
        self.session = made["sessionId"]

    def call(self, method, path, body=None, session=True):
        url = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if session else "") + path
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error

    def open(self, path):
        self.call("POST", "/url", {"url": path.as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def media(self, *features):
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": name, "value": value} for name, value in features]}})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


DRAWN = """
const figure = document.querySelector('#' + arguments[0] + ' figure');
return Array.from(figure.querySelectorAll('svg [data-v]')).map(one => Number(one.dataset.v));
"""
DRAG = """
const root = document.querySelector('#' + arguments[0] + ' svg'), box = root.getBoundingClientRect();
const at = (kind, share) => root.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: box.left + box.width * share,
                                                                        clientY: box.top + 20}));
at('pointerdown', arguments[1]); at('pointermove', arguments[2]); at('pointerup', arguments[2]);
"""


def cells(figure, first=0):
    """Numbers of a table that are not 0, in order."""
    return [number for _, row in figure.rows for _, number in row[first:] if number]


def charts(browser, page):
    """What is drawn is what the tables say."""
    for name in ("slots", "limits", "latency", "energy"):
        assert [v for v in browser.run(DRAWN, name) if v] == cells(page.figure(name)), name
    for name in ("slots-time-0", "power-time-0"):
        assert browser.run(DRAWN, name) == cells(page.figure(name), first=1), name
    roofline = page.figure("roofline")
    points = [row[1][1] for (_, row), kind in zip(roofline.rows, roofline.classes) if kind != "roof"]
    assert browser.run(DRAWN, "roofline") == points


def click(browser, selector):
    browser.run("document.querySelector(arguments[0]).click();", selector)


def slots(browser, page):
    """A click on a name of the legend leaves its part out, another brings it back."""
    all_parts = browser.run(DRAWN, "slots")
    click(browser, "#slots .legend button")
    assert browser.run(DRAWN, "slots") == cells(page.figure("slots"), first=1)
    click(browser, "#slots .legend button")
    assert browser.run(DRAWN, "slots") == all_parts


def over_time(browser, page):
    """A drag shows a part of the time and says what is in it; a double click shows all."""
    figure = page.figure("slots-time-0")
    total = len(browser.run(DRAWN, "slots-time-0"))
    browser.run(DRAG, "slots-time-0", 0.3, 0.6)
    part = browser.run(DRAWN, "slots-time-0")
    every = cells(figure, first=1)
    assert 0 < len(part) < total
    assert any(every[i:i + len(part)] == part for i in range(len(every))), "not a range of the table"
    said = browser.run("return document.querySelector('#slots-time-0 .readout').textContent;")
    shown = [row for row in figure.rows if f"cycles {row[0]} to " in said]
    assert len(shown) == 1 and "issued" in said, said
    browser.run("document.querySelector('#slots-time-0 svg').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));")
    assert len(browser.run(DRAWN, "slots-time-0")) == total


def tables(browser, page):
    """Rows are filtered and sorted; what is saved is what is shown."""
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; });")
    browser.run("""const input = document.querySelector('#statistics input'); input.value = 'l1d read_h';
                   input.dispatchEvent(new Event('input'));""")
    shown = browser.run("""return Array.from(document.querySelectorAll('#statistics tr')).filter(row => row.offsetParent)
                           .map(row => row.children[0].textContent);""")
    assert shown == ["statistic", "l1d.read_hits", "l1d.read_hit_rate"], shown
    saved = browser.run("""let found; const click = HTMLAnchorElement.prototype.click;
                           HTMLAnchorElement.prototype.click = function () { found = this; };
                           document.querySelector('#statistics .save').click();
                           HTMLAnchorElement.prototype.click = click;
                           return [found.download, decodeURIComponent(found.href)];""")
    hits = page.figure("statistics").numbers()["l1d.read_hits"].values()
    line = "l1d.read_hits," + ",".join(f"{value:.17g}" for value in hits) + "\n"
    assert saved[0] == "statistics.csv" and line in saved[1], saved
    assert saved[1].count("\n") == 3
    order = """document.querySelectorAll('#energy th')[1].click();
               return Array.from(document.querySelectorAll('#energy tr')).slice(1).map(row => Number(row.children[1].dataset.v));"""
    down, up = browser.run(order), browser.run(order)
    assert down == sorted(down, reverse=True) and up == sorted(up) and down != up


def listings(browser, page):
    """A click on a line shows its instructions below it, another hides them."""
    lines = page.listings()["stride"]
    at = next(i for i, (_, code, _) in enumerate(lines["lines"]) if "ld.global" in code)
    count = "return document.querySelectorAll('#source tr.inst').length;"
    press = "document.querySelectorAll('#source .lines tr.cost')[arguments[0]].click();"
    browser.run(press, at)
    assert browser.run(count) == 1
    assert "ld.global" in browser.run("return document.querySelector('#source tr.inst .code').textContent;")
    browser.run(press, at)
    assert browser.run(count) == 0
    shaded = "return document.querySelectorAll('#source .lines td[data-m=energy][style*=gradient]').length;"
    assert browser.run(shaded) == 0
    browser.run("""const choice = document.querySelector('#source select'); choice.value = 'energy';
                   choice.dispatchEvent(new Event('change'));""")
    assert browser.run(shaded) == sum(metric == "energy" for _, _, row in lines["lines"] for metric, _ in row)


def picture(browser, name, **options):
    """A screenshot of the whole page, or of a part of it."""
    if PICTURES:
        shot = browser.call("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {
            "captureBeyondViewport": True, **options}})
        (PICTURES / name).write_bytes(base64.b64decode(shot["data"]))


def section(browser, name, file):
    """A screenshot of a section of the page."""
    box = browser.run("""const box = document.querySelector('#' + arguments[0]).getBoundingClientRect();
                         return [box.top + window.scrollY, box.height];""", name)
    picture(browser, file, clip={"x": 0, "y": box[0], "width": 1265, "height": box[1], "scale": 0.7})


def looks(browser, name):
    """Dark and light pages differ; a narrow window scrolls its charts, not itself; the page prints."""
    back = "return getComputedStyle(document.body).backgroundColor;"
    colours = []
    for scheme in ("light", "dark"):
        browser.media(("prefers-color-scheme", scheme))
        colours.append(browser.run(back))
        picture(browser, f"{name}-{scheme}.png")
    assert colours[0] != colours[1], colours
    browser.call("POST", "/window/rect", {"width": 500, "height": 900})
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth + 1;")
    browser.call("POST", "/window/rect", {"width": 1280, "height": 1000})
    assert len(base64.b64decode(browser.call("POST", "/print", {}))) > 20000


def silent(browser):
    """Nothing was said on the console, and only files were asked for."""
    messages = browser.log("browser")
    assert not messages, messages
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            assert message["params"]["request"]["url"].startswith(("file:", "data:", "chrome:")), message


def blocks(browser, page, folder):
    """Blocks on cores over time: each shade is a cell of the table, and these are the rows of the time series."""
    figure = page.figure("blocks-time-0")
    section(browser, "blocks-time-0", "blocks.png")
    assert browser.run(DRAWN, "blocks-time-0") == [number for _, row in figure.rows for _, number in row]
    with open(folder / "a.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    each = -(-len(rows) // 60)
    for core, (label, cells) in enumerate(figure.rows):
        assert label == str(core)
        for at, (_, number) in enumerate(cells):
            part = rows[at * each:(at + 1) * each]
            cycles = sum(int(row["to_cycle"]) - int(row["from_cycle"]) for row in part)
            mean = sum(int(row[f"core{core}.block_cycles"]) for row in part) / cycles
            assert abs(number - mean) < 1e-9, (core, at, number, mean)
    # the statistic counts each block to the end of the window in which it ends
    totals = json.loads((folder / "a.json").read_text())["totals"]
    total = sum(int(value) for row in rows for key, value in row.items() if re.fullmatch(r"core\d+\.block_cycles", key))
    assert 0 <= totals["timing.block_cycles"] - total <= 9 * totals["timing.blocks"], (totals["timing.block_cycles"], total)
    assert max(number for _, row in figure.rows for _, number in row) <= 2


def window(browser, folder):
    """The window of a run: waits and requests are those of the trace, and a click on one shows what heddle why says."""
    words = [word.replace("%s", "w") for word in RUN]
    subprocess.run([*words, "--trace", "w.jsonl", "--trace-window", "500:1100", "--report", "w.html"], cwd=folder, check=True)
    browser.open(folder / "w.html")
    page = Page(folder / "w.html")
    events = [json.loads(line) for line in (folder / "w.jsonl").read_text().splitlines()]
    for name, drawn in (("waits", 1), ("requests", 0)):
        figure = page.figure(name)
        first = int(re.match(r"core (\d+)", figure.rows[0][0]).group(1))
        assert figure.column("cycles") == sorted(figure.column("cycles"), reverse=True)
        for core in sorted({int(re.match(r"core (\d+)", label).group(1)) for label, _ in figure.rows})[:3] + [first]:
            browser.run("""const choice = document.querySelector('#' + arguments[0] + ' select'); choice.value = arguments[1];
                           choice.dispatchEvent(new Event('change'));""", name, str(core))
            shown = sorted((cells[0][1], cells[2][1]) for label, cells in figure.rows if label.split(",")[0] == f"core {core}")
            assert sorted(browser.run(DRAWN, name)) == sorted(cycles for _, cycles in shown), (name, core)
    sent = {(one["core"], one["at"]) for one in events if one["what"] == "request"}
    replies = {(one["core"], one["sent"], one["at"]) for one in events if one["what"] == "reply"}
    for label, cells in page.figure("requests").rows:
        core = int(label.removeprefix("core "))
        assert (core, int(cells[0][1])) in sent and (core, int(cells[0][1]), int(cells[1][1])) in replies, (label, cells)
    stalls = {(one["core"], one["slot"], one["at"], one["why"]) for one in events if one["what"] == "stall"}
    for label, cells in page.figure("waits").rows:
        core, slot = (int(word.split()[1]) for word in label.split(", "))
        assert (core, slot, int(cells[0][1]), cells[3][0]) in stalls, (label, cells)
    # the first bar is clicked, and a row of the table
    said = """return Array.from(document.querySelectorAll('#waits .chain tr')).slice(1).map(row => row.children[2].textContent);"""
    for number in (0, 7):
        browser.run("document.querySelectorAll('#waits figure > details tr')[arguments[0] + 1].click();", number)
        label, cells = page.figure("waits").rows[number]
        core, slot = (word.split()[1] for word in label.split(", "))
        done = subprocess.run([HEDDLE, "why", "w.jsonl", "--at", str(int(cells[0][1])), "--core", core, "--warp", slot, "--json"],
                              cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
        assert browser.run(said) == [link["text"] for link in json.loads(done.stdout)["causes"]]
    browser.run("document.querySelector('#waits svg rect').dispatchEvent(new MouseEvent('click', {bubbles: true}));")
    assert len(browser.run(said)) > 1
    browser.media(("prefers-color-scheme", "light"))
    browser.run("document.querySelectorAll('#waits figure > details tr')[1].click();")
    section(browser, "waits", "window.png")
    looks(browser, "window")
    silent(browser)


def explored(browser, folder):
    """The page of a sweep: points are filtered, drawn against each other with their front, and averaged."""
    words = [HEDDLE, "sweep", "--machine", "gtx480", "--set", "l1d.sets=8,32", "--set", "gpu.cores=1,2,4", "--mech", "none",
             "--mech", "filter_cache", "--kernel", f"{KERNEL} --grid 4 --block 32 --arg zero:64K --arg zero:4K --arg u32:64",
             "--out", "sweep"]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    points = json.loads((folder / "sweep/sweep.json").read_text())["points"]
    browser.open(folder / "sweep/sweep.html")
    dots = "return Array.from(document.querySelectorAll('.scatter circle')).map(one => [Number(one.dataset.x), Number(one.dataset.y)]);"
    pairs = [[point["cycles"], point["energy"]] for point in points]
    assert browser.run(dots) == pairs
    best = {tuple(one) for one in pairs
            if not any(a <= one[0] and b <= one[1] and [a, b] != one for a, b in pairs)}
    assert int(browser.run("return document.querySelector('.front').dataset.points;")) == len(best)
    heat = browser.run("return Array.from(document.querySelectorAll('.heat td')).map(one => Number(one.dataset.v));")
    means = []
    for sets in ("8", "32"):
        for cores in ("1", "2", "4"):
            few = [p["cycles"] for p in points if (str(p["l1d.sets"]), str(p["gpu.cores"])) == (sets, cores)]
            means.append(sum(few) / len(few))
    assert heat == means, (heat, means)
    sift = """const input = document.querySelector('input[type=search]'); input.value = arguments[0];
              input.dispatchEvent(new Event('input'));"""
    middle = sorted(one[0] for one in pairs)[6]
    browser.run(sift, f"none cycles<{middle}")
    assert browser.run(dots) == [pair for pair, point in zip(pairs, points) if point["mechanism"] == "none" and pair[0] < middle]
    browser.run(sift, "gpu.cores=2")
    assert len(browser.run(dots)) == 4
    browser.run(sift, "")
    looks(browser, "sweep")
    page = (folder / "sweep/sweep.html").read_text(encoding="utf-8")
    first, rows, last = re.split(r"(?<=<tbody>\n)|(?=</tbody>)", page)
    (folder / "many.html").write_text(first + rows * (5000 // len(points)) + last, encoding="utf-8")
    began = time.monotonic()
    browser.open(folder / "many.html")
    print(f"a page of 5000 points opened in {time.monotonic() - began:.2f} s")
    silent(browser)


def main():
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("no chromium or chromedriver")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(KERNEL, folder)
        for run, more in (("a", ()), ("b", ("--set", "l1d.sets=64"))):
            words = [word.replace("%s", run) for word in RUN]
            subprocess.run([*words, *more], cwd=folder, check=True)
        subprocess.run([HEDDLE, "report", "a.json", "--series", "a.csv"], cwd=folder, check=True)
        subprocess.run([HEDDLE, "report", "a.json", "b.json", "--series", "a.csv", "--series", "b.csv", "--out",
                        "both.html"], cwd=folder, check=True)
        browser = Browser(folder / "profile")
        try:
            for page in ("a.html", "both.html"):
                browser.open(folder / page)
                assert browser.run("return document.documentElement.dataset.drawn;") == "true"
                if page == "a.html":
                    picture(browser, "report.png", clip={"x": 0, "y": 0, "width": 1265, "height": 1900, "scale": 0.7})
                tested = Page(folder / page)
                for check in (charts, slots, over_time, tables, listings):
                    check(browser, tested)
                if page == "a.html":
                    blocks(browser, tested, folder)
                looks(browser, page.removesuffix(".html"))
                silent(browser)
            window(browser, folder)
            explored(browser, folder)
        finally:
            browser.close()


main()
