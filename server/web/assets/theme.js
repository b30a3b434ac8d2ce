// @ts-check
// The colours of the page, for what is drawn rather than styled.

// theme reads the colours of the page, for CSS and, as shares of red, green and blue, for the scene.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const css = (name) => style.getPropertyValue(name).trim();
  const rgb = (name) => [1, 3, 5].map((k) => parseInt(css(name).slice(k, k + 2), 16) / 255);
  return {
    ink: css("--ink"), paper: css("--map"), soft: css("--soft"), accent: css("--accent"), onAccent: css("--on-accent"), second: css("--second"),
    shares: { ink: rgb("--ink"), paper: rgb("--map"), plain: rgb("--plain"), line: [...rgb("--edge"), 0.55] },
  };
}
