package browser

import "fmt"

// visible is JavaScript with a function named texts, which returns the pieces of text that a person sees on a page.
// Each piece comes with its element, and with the part of its rectangle that no scrolling element cuts off.
const visible = `
const texts = () => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walk.nextNode();) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || e.closest("option, script, style")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const cut = [];
    for (let p = e; p; p = p.parentElement) if (p !== document.body && p !== document.documentElement && getComputedStyle(p).overflowX !== "visible" && !(p instanceof SVGElement)) cut.push(p.getBoundingClientRect());
    for (const r of range.getClientRects()) {
      const box = {left: r.left, right: r.right, top: r.top, bottom: r.bottom};
      for (const c of cut) {
        box.left = Math.max(box.left, c.left); box.right = Math.min(box.right, c.right);
        box.top = Math.max(box.top, c.top); box.bottom = Math.min(box.bottom, c.bottom);
      }
      if (box.right - box.left > 1 && box.bottom - box.top > 1) found.push({e, box, text: node.data.trim().slice(0, 40)});
    }
  }
  return found;
};`

// Overlaps names pieces of text that overlap each other, or that the window's edge cuts off.
func (p *Page) Overlaps() (pairs []string, err error) {
	err = p.Eval(`(() => {`+visible+`
const all = texts(), wrong = [];
all.forEach((a, i) => {
  if (a.box.left < -1 || a.box.right > document.documentElement.clientWidth + 1) wrong.push("cut off: " + a.text);
  for (const b of all.slice(i + 1)) {
    const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    // The box of a line is higher than its letters, so that boxes may overlap a little.
    if (wide > 1 && high > 0.25 * Math.min(a.box.bottom - a.box.top, b.box.bottom - b.box.top)) wrong.push(a.text + " | " + b.text);
  }
});
return wrong;
})()`, &pairs)
	return pairs, err
}

// Faint names pieces of text whose contrast with their background, as WCAG 2 defines it, is below ratio. It also
// names form fields and buttons whose edge has a contrast below 3.
func (p *Page) Faint(ratio float64) (names []string, err error) {
	err = p.Eval(fmt.Sprintf(`(() => {`+visible+`
const parse = color => {
  const canvas = parse.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const ground = e => {
  for (; e; e = e.parentElement) {
    const color = parse(getComputedStyle(e).backgroundColor);
    if (color[3] === 255) return color;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 255] : [255, 255, 255, 255];
};
const wrong = [];
for (const {e, text} of texts()) {
  const style = getComputedStyle(e), c = contrast(parse(e instanceof SVGElement ? style.fill : style.color), ground(e));
  if (c < %v) wrong.push(c.toFixed(2) + ": " + text);
}
for (const e of document.querySelectorAll("input, select, textarea, button")) {
  if (!e.checkVisibility()) continue;
  const style = getComputedStyle(e), edge = contrast(parse(style.borderTopColor), ground(e.parentElement)), inner = contrast(parse(style.color), ground(e));
  if (edge < 3) wrong.push("edge " + edge.toFixed(2) + ": " + (e.name || e.id || e.textContent));
  if (inner < %v) wrong.push(inner.toFixed(2) + ": in " + (e.name || e.id));
}
return wrong;
})()`, ratio, ratio), &names)
	return names, err
}

// Type enters text into the element that has the focus, as a keyboard does.
func (p *Page) Type(text string) error {
	return p.ask("Input.insertText", map[string]any{"text": text}, nil)
}

// keys holds the keys that Press knows, with the codes that browsers give them.
var keys = map[string]struct {
	code int
	text string
}{"Tab": {9, ""}, "Enter": {13, "\r"}, "Space": {32, " "}, "/": {191, ""}, "ArrowDown": {40, ""}, "Escape": {27, ""}}

// Press presses a key and lets it go.
func (p *Page) Press(name string) error {
	key, known := keys[name]
	if !known {
		return fmt.Errorf("unknown key %q", name)
	}
	event := func(kind string) map[string]any {
		of := map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": key.code}
		if name == "Space" {
			of["key"] = " "
		}
		if key.text != "" && kind == "keyDown" {
			of["text"] = key.text
		}
		return of
	}
	if err := p.ask("Input.dispatchKeyEvent", event("keyDown"), nil); err != nil {
		return err
	}
	return p.ask("Input.dispatchKeyEvent", event("keyUp"), nil)
}
