"""Faults of a board's page: text that is cut, that lies on text, or that is hard to read."""

from __future__ import annotations

from typing import Any, Final

FAULTS: Final = r"""() => {
  const shown = (node) => {
    for (let at = node; at && at.nodeType === 1; at = at.parentNode) {
      const style = getComputedStyle(at);
      if (style.display === 'none' || style.visibility === 'hidden' || Number(style.opacity) === 0) return false;
    }
    return true;
  };
  const inside = (box, frame, slack) =>
    box.left >= frame.left - slack && box.right <= frame.right + slack &&
    box.top >= frame.top - slack && box.bottom <= frame.bottom + slack;
  const faults = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) faults.push(`the page is ${wide} wide in a window of ${innerWidth}`);
  const board = document.querySelector('.dbt-charts-svg-container > svg');
  const scale = board.getBoundingClientRect().width / board.viewBox.baseVal.width;
  const texts = [...board.querySelectorAll('text')].filter(
    (text) => text.textContent.trim() && text.getBoundingClientRect().width && shown(text));
  const boxes = texts.map((text) => text.getBoundingClientRect());
  texts.forEach((text, at) => {
    for (let frame = text.parentNode.closest('svg'); frame; frame = frame.parentNode.closest('svg')) {
      if (!inside(boxes[at], frame.getBoundingClientRect(), 2 * scale)) {
        faults.push(`cut: ${text.textContent}`);
        break;
      }
    }
    if (/(…|\.\.\.)$/.test(text.textContent.trim())) faults.push(`shortened: ${text.textContent}`);
  });
  for (let one = 0; one < texts.length; one++) {
    for (let other = one + 1; other < texts.length; other++) {
      const across = Math.min(boxes[one].right, boxes[other].right) - Math.max(boxes[one].left, boxes[other].left);
      const down = Math.min(boxes[one].bottom, boxes[other].bottom) - Math.max(boxes[one].top, boxes[other].top);
      // A box is taller than its letters: lines of one text may touch.
      if (across > 1.5 * scale && down > Math.min(boxes[one].height, boxes[other].height) / 3) {
        faults.push(`overlapping: ${texts[one].textContent} and ${texts[other].textContent}`);
      }
    }
  }
  const controls = [...document.querySelectorAll('[role=combobox]')].filter(shown);
  if (!controls.length) faults.push('there are no filters');
  controls.forEach((control, at) => {
    const box = control.getBoundingClientRect();
    if (box.left < -1 || box.right > innerWidth + 1) faults.push(`a filter is outside: ${control.textContent}`);
    controls.slice(at + 1).forEach((other) => {
      const next = other.getBoundingClientRect();
      if (box.left < next.right - 1 && next.left < box.right - 1 && box.top < next.bottom - 1 && next.top < box.bottom - 1) {
        faults.push(`filters overlap: ${control.textContent} and ${other.textContent}`);
      }
    });
  });
  return faults;
}"""

PALE: Final = r"""() => {
  const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const linear = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = parts(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const pale = [];
  for (const text of document.querySelectorAll('.dbt-charts-svg-container > svg text')) {
    const words = text.textContent.trim();
    // The footer is that of dbt charts; a number in a bar lies on the bar.
    if (!words || /^made with|dbt Charts/.test(words) || text.closest('.mark-text')) continue;
    for (const piece of [text, ...text.querySelectorAll('tspan')]) {
      // What holds only pieces is not drawn in its own colour.
      if (![...piece.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim())) continue;
      const fill = parts(getComputedStyle(piece).fill).slice(0, 3);
      if (fill.length === 3 && contrast(fill, ground) < 4.5) {
        pale.push(`${words}: ${contrast(fill, ground).toFixed(2)} of ${fill} on ${ground}`);
        break;
      }
    }
  }
  return pale;
}"""


def faults_of(page: Any) -> list[str]:
    """Name each text that is cut, shortened or overlapped, and each filter that is out of place."""
    found: list[str] = page.evaluate(FAULTS)
    return found


def pale_texts(page: Any) -> list[str]:
    """Name each text whose contrast to the ground is below 4.5:1."""
    found: list[str] = page.evaluate(PALE)
    return found
