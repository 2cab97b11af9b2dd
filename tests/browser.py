"""A real browser, for pages that must draw themselves without a network."""

import html
import json
import os
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

needs_browser = pytest.mark.skipif(
    BROWSER is None and not os.environ.get("CI"),
    reason="no chromium or chrome here; where CI is set it must be there",
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
  if (!root.dataset.drawn) return null;
  const coloured = (part) => ["color", "backgroundColor", "borderLeftColor", "fill", "stroke"]
    .some((name) => green(frame.contentWindow.getComputedStyle(part)[name]));
  const verdict = page.querySelector(".verdict");
  return {
    drawn: root.dataset.drawn,
    charts: page.querySelectorAll("svg.marks").length,
    empty: [...page.querySelectorAll("svg.marks")].filter((svg) => svg.getBoundingClientRect().height < 30).length,
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
const frames = [...document.querySelectorAll("iframe")];
const wait = () => {
  const found = frames.map(look);
  if (found.some((one) => one === null)) { setTimeout(wait, 100); return; }
  document.getElementById("found").textContent = JSON.stringify(found);
  document.documentElement.dataset.drawn = "yes";
};
window.addEventListener("load", wait);
"""


def looked_at(pages, folder, scheme="light", width=1200):
    """What one start of the browser finds in several pages, each in a frame of that width; by name."""
    frames = "".join(
        f'<iframe src="{path.as_uri()}" style="width:{width}px;height:900px;border:0"></iframe>'
        for path in pages.values()
    )
    host = folder / f"host-{scheme}-{width}.html"
    style = f"<meta name='color-scheme' content='{scheme}'>"  # frames take the scheme of their host
    host.write_text(f"{style}{frames}<pre id='found'></pre><script>{LOOK}</script>", encoding="utf-8")
    dom = drawn_page(host, folder, scheme, options=("--allow-file-access-from-files",))
    text = dom.partition('<pre id="found">')[2].partition("</pre>")[0]
    return dict(zip(pages, json.loads(html.unescape(text)), strict=True))


def drawn_page(path, folder, scheme="light", width=1280, options=()):
    """The document after its scripts have run; whatever they complain of fails the test."""
    assert BROWSER, "no chromium or chrome was found, and none could be installed"
    command = [BROWSER, *options, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom"]
    command += [
        "--enable-logging=stderr",
        "--proxy-server=127.0.0.1:9",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--window-size={width},900",
    ]
    command += [f"--blink-settings=preferredColorScheme={int(scheme == 'light')}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert 'data-drawn="yes"' in done.stdout
    return done.stdout
