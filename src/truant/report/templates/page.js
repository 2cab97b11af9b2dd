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

  const draw = () => Promise.all(Object.entries(charts).map(([id, spec]) =>
    vegaEmbed(document.getElementById(id), atNight.matches ? painted(spec) : spec, {
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      tooltip: { theme: atNight.matches ? "dark" : "light" },
    })));

  const drawn = () => draw().then(() => { document.documentElement.dataset.drawn = "yes"; });
  atNight.addEventListener("change", drawn);
  drawn().catch((error) => {
    console.error(error);
    document.documentElement.dataset.drawn = "no";
  });
})();
