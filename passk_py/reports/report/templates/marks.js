// What a mark says, beside the pointer. The page is whole without it: the tables have every number.
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  const show = (event) => {
    const mark = event.target.closest?.("svg [aria-label][role='graphics-symbol']");
    const said = mark && mark.getAttribute("aria-roledescription") !== "axis" && mark.getAttribute("aria-label");
    tip.hidden = !said;
    if (!said) return;
    tip.textContent = said;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 12}px`;
  };
  addEventListener("pointermove", show);
  addEventListener("pointerdown", show);
})();
