#pragma once

#include <string_view>

namespace plait::cli {

/// The script of pages and of pictures that are files: tells what the pointer is on in cells and timelines, and moves
/// along timelines. Without it pictures show the same, but for the numbers.
inline constexpr std::string_view script = R"js(
(() => {
  const pointed = (svg, event) =>
    new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const element = (parent, name, attributes, words = '') => {
    const made = parent.appendChild(document.createElementNS('http://www.w3.org/2000/svg', name));
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.textContent = words;
    return made;
  };
  const hide = svg => svg.querySelector(':scope > .tip')?.remove();
  const show = (svg, at, words) => {
    hide(svg);
    const isLeft = at.x < svg.viewBox.baseVal.width / 2;
    element(svg, 'text', {class: 'tip', x: at.x + (isLeft ? 14 : -10), y: Math.max(at.y - 8, 14),
                          'text-anchor': isLeft ? 'start' : 'end'}, words);
  };
  const scaled = (number, digits, units) => {
    const [factor, unit] = units.find(([factor]) => Math.abs(number) >= factor) ?? units.at(-1);
    return `${Number((number / factor).toPrecision(digits))} ${unit}`;
  };
  const time = (ns, digits = 4) =>
    ns === 0 ? '0' : scaled(ns, digits, [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
  const bytes = number => scaled(number, 4, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]);

  for (const cells of document.querySelectorAll('.cells')) {
    const {shape, cells: counts, words, numbers} =
      Object.fromEntries(Object.entries({...cells.dataset}).map(([key, text]) => [key, text.split(';')]));
    const svg = cells.ownerSVGElement;
    const range = (i, k) => {
      const [first, end] = [i, i + 1].map(cell => Math.ceil(cell * shape[k] / counts[k]));
      return `${words[k]} ${end - first > 1 ? `${first} to ${end - 1}` : first}`;
    };
    cells.onpointermove = event => {
      const at = pointed(svg, event), box = cells.getBBox();
      const place = (offset, k) => Math.min(counts[k] - 1, Math.max(0, Math.floor(offset * counts[k])));
      const row = place((at.y - box.y) / box.height, 0), column = place((at.x - box.x) / box.width, 1);
      show(svg, at, `${range(row, 0)}, ${range(column, 1)}: ${numbers[row * counts[1] + column]}`);
    };
    cells.onpointerleave = () => hide(svg);
  }

  for (const svg of document.querySelectorAll('.timeline')) {
    const bars = svg.querySelector('.bars'), axis = svg.querySelector('.axis');
    const left = +bars.getAttribute('x'), right = 60, height = svg.viewBox.baseVal.height;
    const columns = +svg.dataset.columns, nanoseconds = svg.dataset.span / columns;
    const fine = svg.querySelectorAll('.fine'), coarse = svg.querySelectorAll('.coarse');
    let begin = 0, length = columns, dragged = null;
    const width = () => svg.viewBox.baseVal.width - left - right;
    const column = at => begin + (at.x - left) / width() * length;
    const draw = () => {
      const whole = Math.max(svg.clientWidth, 320);
      svg.setAttribute('viewBox', `0 0 ${whole} ${height}`);
      bars.setAttribute('width', width());
      bars.setAttribute('viewBox', `${begin} 0 ${length} ${height}`);
      const isFine = fine.length > 0 && length < columns / 1.5;
      for (const group of fine) group.setAttribute('visibility', isFine ? 'visible' : 'hidden');
      if (fine.length > 0) for (const group of coarse) group.setAttribute('visibility', isFine ? 'hidden' : 'visible');
      axis.replaceChildren();
      const rough = length * nanoseconds / Math.max(2, width() / 120), power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= rough);
      for (let k = Math.ceil(begin * nanoseconds / step); k * step <= (begin + length) * nanoseconds; ++k) {
        const x = left + (k * step / nanoseconds - begin) / length * width();
        element(axis, 'path', {class: 'grid', d: `M${x} 16V${height}`});
        element(axis, 'text', {x: x + 3, y: 13}, time(k * step));
      }
    };
    const look = (first, count) => {
      length = Math.min(columns, Math.max(count, columns / 1e5));
      begin = Math.min(columns - length, Math.max(0, first));
      hide(svg);
      draw();
    };
    // What a strip shows, from the most exact paths that are there: [mark, begin, end, what part of it], in columns.
    const intervals = strip => strip.intervals ??= (() => {
      const exact = strip.querySelector('.fine'), marks = new Map();
      const shrink = +(exact?.getAttribute('transform').match(/\((.*),/)[1] ?? 1);
      for (const path of (exact ?? strip).querySelectorAll('path')) {
        const mark = path.getAttribute('class'), pieces = marks.get(mark) ?? [], part = path.getAttribute('opacity') ?? 1;
        for (const [, x, dx] of path.getAttribute('d').matchAll(/M(\d+) 0h(\d+)/g)) pieces.push([+x, +x + +dx, dx * part]);
        marks.set(mark, pieces);
      }
      const all = [];
      for (const [mark, pieces] of marks) {
        pieces.sort((a, b) => a[0] - b[0]);
        let last = null;
        for (const [b, e, filled] of pieces) {
          if (last && b <= last[1]) last.splice(1, 2, Math.max(last[1], e), last[2] + filled);
          else all.push(last = [b, e, filled, mark]);
        }
      }
      // Both ends of an interval may fill little of their columns.
      return all.map(([b, e, filled, mark]) => [mark, b * shrink, e * shrink, (filled + 2) / (e - b)]);
    })();
    const found = (strip, c) => {
      const close = length / width(), distance = ([, b, e]) => Math.max(b - c, c - e, 0);
      return intervals(strip).reduce((best, each) => distance(each) < distance(best) ? each : best, ['', c + close, c]);
    };
    const message = (strip, c) => {
      strip.messages ??= (strip.dataset.messages ?? '').split(';').filter(Boolean).map(each => each.split(' ').map(Number));
      return strip.messages.find(([b, e]) => b <= c && c <= e);
    };
    const tell = (at, event) => {
      const c = column(at), strip = event.target.closest('[data-strip]');
      const [mark, first, end, part] = strip ? found(strip, c) : [''];
      if (!mark) return show(svg, at, time(c * nanoseconds));
      const sent = message(strip, c);
      const [b, e] = (sent?.slice(0, 2) ?? [first, end]).map(each => each * nanoseconds);
      const words = svg.parentNode.querySelector(`.key .${mark}`).closest('.key').textContent.trim();
      const much = sent || part >= 1 ? 'for' : `about ${Math.round(100 * part)} % of`;
      const which = sent ? ` ${sent[2]}, ${bytes(sent[3])}` : '';
      show(svg, at, `${strip.dataset.strip}${which}: ${words} ${much} ${time(e - b)}, from ${time(b, 6)} on`);
    };
    svg.onpointermove = event => {
      const at = pointed(svg, event);
      if (!dragged) return at.x < left ? hide(svg) : tell(at, event);
      const x = Math.min(at.x, dragged.x);
      dragged.box.setAttribute('x', x);
      dragged.box.setAttribute('width', Math.abs(at.x - dragged.x));
    };
    svg.onpointerleave = () => hide(svg);
    svg.onpointerdown = event => {
      const {x} = pointed(svg, event);
      if (x < left || event.button !== 0) return;
      svg.setPointerCapture(event.pointerId);
      hide(svg);
      dragged = {x, box: element(svg, 'rect', {class: 'chosen', x, y: 16, width: 0, height: height - 16})};
      event.preventDefault();
    };
    svg.onpointerup = event => {
      if (!dragged) return;
      const ends = [column(dragged), column(pointed(svg, event))].sort((a, b) => a - b);
      dragged.box.remove();
      dragged = null;
      if ((ends[1] - ends[0]) / length * width() > 4) look(ends[0], ends[1] - ends[0]);
    };
    svg.onpointercancel = () => { dragged?.box.remove(); dragged = null; };
    svg.addEventListener('wheel', event => {
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        look(begin + (event.deltaX || event.deltaY) / width() * length, length);
      } else if (event.ctrlKey || event.metaKey) {
        const c = column(pointed(svg, event)), factor = Math.exp(event.deltaY / 300);
        look(c - (c - begin) * factor, length * factor);
      } else {
        return;  // the page moves
      }
      event.preventDefault();
    }, {passive: false});
    svg.ondblclick = () => look(0, columns);
    svg.parentNode.querySelector('button').onclick = () => look(0, columns);
    new ResizeObserver(draw).observe(svg);
    draw();
  }
})();
)js";

}  // namespace plait::cli
