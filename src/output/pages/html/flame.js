// SPDX-License-Identifier: BSD-2-Clause; a line that is not embedded
(function () {
'use strict';
const svg = document.currentScript.ownerSVGElement;
const one = q => svg.querySelector(q);
const details = one('.details'), hint = details.textContent, field = one('input');
const frames = Array.from(svg.querySelectorAll('.f'), (el, i) => {
	const title = el.querySelector('title').textContent, cut = title.lastIndexOf('\n');
	return { el, i, p: +el.dataset.p, text: el.querySelector('text'),
		name: title.slice(0, cut), details_text: title.slice(cut + 1),
		x: parseFloat(el.getAttribute('x')), w: parseFloat(el.getAttribute('width')) };
});
let zoomed = frames[0], at = frames[0], letter = 7.3;

/* as much of a name as fits */
function fit() {
	const px = svg.getBoundingClientRect().width / 100;
	for (const f of frames) {
		if (f.gone) continue;
		const room = Math.floor((f.now * px - 6) / letter);
		f.text.textContent = room >= f.name.length ? f.name :
			room > 2 ? f.name.slice(0, room - 1) + '\u2026' : '';
	}
}

function zoom(z) {
	const around = new Set(), inside = [];
	zoomed = z;
	for (let f = frames[z.p]; f; f = frames[f.p]) around.add(f);
	for (const f of frames) {
		const up = around.has(f);
		inside[f.i] = f === z || f.p >= 0 && inside[f.p];
		f.gone = !up && !inside[f.i];
		f.now = up ? 100 : f.w / z.w * 100;
		f.el.style.display = f.gone ? 'none' : '';
		f.el.classList.toggle('up', up);
		if (f.gone) continue;
		f.el.setAttribute('x', (up ? 0 : (f.x - z.x) / z.w * 100) + '%');
		f.el.setAttribute('width', f.now + '%');
	}
	fit();
}

/* what a frame within a matched one takes is counted once */
function search(pattern) {
	let re = null, share = 0, n = 0;
	field.classList.remove('bad');
	try { re = pattern ? new RegExp(pattern) : null; } catch (e) { field.classList.add('bad'); }
	const within = [];
	for (const f of frames) {
		const hit = re !== null && f.i > 0 && re.test(f.name), over = f.p >= 0 && within[f.p];
		f.el.classList.toggle('m', hit);
		within[f.i] = hit || over;
		n += hit;
		if (hit && !over) share += f.w;
	}
	svg.classList.toggle('searching', re !== null);
	one('.matched').textContent = re === null ? '' : n + ' frames, ' + share.toFixed(1) + ' %';
}

function show_details(f) {
	details.textContent = f ? f.name + ' \u2014 ' + f.details_text : hint;
}

function go(f) {
	if (!f || f.gone) return;
	at.el.setAttribute('tabindex', -1);
	at = f;
	f.el.setAttribute('tabindex', 0);
	f.el.focus();
	show_details(f);
}

const keys = {
	ArrowUp: () => go(frames[at.p]),
	ArrowDown: () => go(frames.find(f => f.p === at.i && !f.gone)),
	ArrowRight: () => go(frames.find(f => f.i > at.i && f.p === at.p && !f.gone)),
	ArrowLeft: () => go(frames.slice(0, at.i).reverse().find(f => f.p === at.p && !f.gone)),
	Enter: () => zoom(at),
	' ': () => zoom(at),
	Escape: () => { zoom(frames[0]); go(frames[0]); },
};

const of = new Map(frames.map(f => [f.el, f]));
const frame_of = e => e.target.closest ? of.get(e.target.closest('.f')) : undefined;
svg.addEventListener('click', e => { const f = frame_of(e); if (f) { zoom(f); go(f); } });
svg.addEventListener('mouseover', e => show_details(frame_of(e)));
svg.addEventListener('focusin', e => { const f = frame_of(e); if (f) { at = f; show_details(f); } });
svg.addEventListener('keydown', e => {
	if (e.target === field) {
		if (e.key === 'Escape') { field.value = ''; search(''); }
	} else if (frame_of(e) && keys[e.key]) {
		at = frame_of(e);
		keys[e.key]();
		e.preventDefault();
	}
});
document.addEventListener('keydown', e => {
	if (e.key !== '/' || e.target.tagName === 'INPUT' || e.target.tagName === 'input') return;
	field.focus();
	e.preventDefault();
});
field.addEventListener('input', () => search(field.value));
one('.reset').addEventListener('click', () => zoom(frames[0]));
window.addEventListener('resize', fit);
frames[0].el.setAttribute('tabindex', 0);
letter = (() => {
	const t = frames[0].text, old = t.textContent;
	t.textContent = 'm'.repeat(20);
	const w = t.getComputedTextLength() / 20;
	t.textContent = old;
	return w || 7.3;
})();
zoom(frames[0]);
svg.flame = { frames, zoom, search };
})();
