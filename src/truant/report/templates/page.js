(() => {
  const { charts, dark } = JSON.parse(document.getElementById("chart-data").textContent);
  const atNight = window.matchMedia("(prefers-color-scheme: dark)");

  // the same chart in colours for a dark page; data are left as they are, whatever they are called
  const painted = (part) => {
    if (typeof part === "string") return dark[part] ?? part;
    if (Array.isArray(part)) return part.map(painted);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) =>
      [key, key === "datasets" || key === "domain" ? value : painted(value)]));
  };

  // what is folded away has no width yet: it is drawn when it is unfolded, which also opens a long page sooner
  const unfolded = ([id]) => !document.getElementById(id).closest("details:not([open])");

  const draw = (some) => Promise.all(some.filter(unfolded).map(([id, spec]) =>
    vegaEmbed(document.getElementById(id), atNight.matches ? painted(spec) : spec, {
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      tooltip: { theme: atNight.matches ? "dark" : "light" },
    })));

  const drawn = (some) => draw(some).then(() => { document.documentElement.dataset.drawn = "yes"; }, (error) => {
    console.error(error);
    document.documentElement.dataset.drawn = "no";
  });
  const all = Object.entries(charts);
  atNight.addEventListener("change", () => drawn(all));
  for (const part of document.querySelectorAll("details")) {
    const own = all.filter(([id]) => part.contains(document.getElementById(id)));
    part.addEventListener("toggle", () => drawn(own.filter(([id]) => !document.getElementById(id).firstChild)));
  }
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  drawn(all);
})();
