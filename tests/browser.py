"""A real browser, for pages that must be drawn without a network and read by everyone."""

import html
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = importlib.util.find_spec("axe_playwright_python")  # for the script that it carries

needs_browser = pytest.mark.skipif(
    BROWSER is None and not os.environ.get("CI"),
    reason="no chromium or chrome here; where CI is set it must be there",
)
needs_axe = pytest.mark.skipif(
    (BROWSER is None or AXE is None) and not os.environ.get("CI"),
    reason="no browser or no axe-core here; where CI is set they must be there",
)

# what is looked at in each frame: charts, width, colours; green is a colour whose green is well above its red and blue
LOOK = """
const green = (text) => {
  const found = /rgba?\\(([\\d.]+), ([\\d.]+), ([\\d.]+)(?:, ([\\d.]+))?\\)/.exec(text);
  if (!found || found[4] === "0") return false;
  const [r, g, b] = found.slice(1, 4).map(Number);
  return g > r + 12 && g > b + 4;
};
const look = (frame) => {
  const page = frame.contentDocument, root = page.documentElement;
  if (page.readyState !== "complete") return null;
  const coloured = (part) => ["color", "backgroundColor", "borderLeftColor", "fill", "stroke"]
    .some((name) => green(frame.contentWindow.getComputedStyle(part)[name]));
  const verdict = page.querySelector(".verdict");
  return {
    charts: [...page.querySelectorAll(".chart > svg")].filter((svg) => svg.checkVisibility()).length,
    empty: [...page.querySelectorAll(".chart > svg")].filter((svg) =>
      svg.checkVisibility() && svg.getBoundingClientRect().height < 30).length,
    graphs: page.querySelectorAll(".graph svg").length,
    text: page.body.innerText,
    overflow: root.scrollWidth - root.clientWidth,
    clipped: [...page.querySelectorAll(".verdict *")].filter((one) =>
      one.getBoundingClientRect().right > root.clientWidth + 1).length,
    verdict: coloured(verdict),
    green: [...page.querySelectorAll("main *")].filter(coloured).map((one) => one.tagName + "." + one.className),
    ground: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  };
};
// serious faults that axe finds, where the frame has it
const judge = async (frame) => {
  const axe = frame.contentWindow.axe;
  if (!axe) return [];
  const { violations } = await axe.run(frame.contentDocument, { resultTypes: ["violations"] });
  return violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => one.id + ": " + one.nodes[0].html);
};
const frames = [...document.querySelectorAll("iframe")];
const wait = async () => {
  const found = frames.map(look);
  if (found.some((one) => one === null)) { setTimeout(wait, 100); return; }
  for (const [i, frame] of frames.entries()) found[i].faults = await judge(frame);
  document.getElementById("found").textContent = JSON.stringify(found);
};
window.addEventListener("load", wait);
"""


def looked_at(pages, folder, scheme="light", width=1200):
    """What one start of the browser finds in several pages, each in a frame of that width; by name."""
    return dict(
        zip(pages, _looked_at([(path, scheme, width) for path in pages.values()], folder), strict=True)
    )


def faults(pages, folder):
    """What is wrong with pages on wide and narrow screens, in the light and in the dark; one start of the browser."""
    assert AXE, "axe-core was not found; make installs it with axe-playwright-python"
    axe = Path(AXE.submodule_search_locations[0]) / "axe.min.js"
    wrong, copies = [], {}
    for name, path in pages.items():
        text = path.read_text(encoding="utf-8")
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        wrong += [f"{name}: policy"] * (
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">' not in text
        )
        wrong += [f"{name}: {len(text):,} letters"] * (len(text.encode()) > 200_000)
        wrong += [f"{name}: script"] * ("<script" in text)
        # the policy would keep axe out
        text = re.sub("<meta http-equiv[^>]*>", "", text).replace(
            "</body>", f'<script src="{axe.as_uri()}"></script></body>'
        )
        copies[name] = folder / f"axe-{len(copies)}.html"
        copies[name].write_text(text, encoding="utf-8")
    ways = list(itertools.product(("light", "dark"), (420, 1280)))
    frames = [(name, path, *way) for each in (pages, copies) for name, path in each.items() for way in ways]
    for (name, _, *way), found in zip(
        frames, _looked_at([frame[1:] for frame in frames], folder), strict=True
    ):
        wrong += [f"{name}: {found['overflow']} pixels too wide at {way}"] * (found["overflow"] > 0)
        wrong += [f"{name}: empty charts at {way}"] * (found["empty"] > 0)
        wrong += [f"{name}: {fault} at {way}" for fault in found["faults"]]
    return wrong


def _looked_at(frames, folder):
    """What is found in each frame: a page, its scheme and its width."""
    shown = "".join(
        f'<iframe src="{path.as_uri()}" style="color-scheme:{scheme};width:{width}px;height:900px;border:0"></iframe>'
        for path, scheme, width in frames
    )
    host = folder / "host.html"
    host.write_text(f"{shown}<pre id='found'></pre><script>{LOOK}</script>", encoding="utf-8")
    dom = opened_page(host, folder, options=("--allow-file-access-from-files",))
    text = dom.partition('<pre id="found">')[2].partition("</pre>")[0]
    return json.loads(html.unescape(text))


def opened_page(path, folder, options=()):
    """The document as the browser has it; whatever it complains of fails the test."""
    assert BROWSER, "no chromium or chrome was found, and none could be installed"
    command = [BROWSER, *options, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom"]
    command += [
        "--enable-logging=stderr",
        "--proxy-server=127.0.0.1:9",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--window-size=1280,900",
    ]
    done = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    return done.stdout
