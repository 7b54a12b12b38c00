// SPDX-License-Identifier: BSD-2-Clause; a line that is not embedded
/*
 * Draws what each thread did when: per thread its events and below them its longest calls.
 * page: { name(function), open(function), time(ns), count(n), make(tag, attributes, ...children) }
 */
function timeline(section, data, page) {
	'use strict';
	const LONGEST = 20, STRIP = 24, GAP = 8, ROW = 15, LETTER = 6.3;
	const one = q => section.querySelector(q);
	const box = one('.lanes'), tall = one('.whole-height'), canvas = one('.lanes canvas'), ruler = one('.ruler'), details = one('.details');
	const hint = details.textContent, span = Math.max(data.span, 1);
	let view = [0, span], drag = null, dragged = false, at = null, queued = false, look = {};

	const lanes = data.lanes.map(lane => ({ ...lane, calls: [], depth: 0,
		most: lane.buckets.reduce((n, b) => Math.max(n, b[1] || 0), 1),
		title: lane.tid === undefined ? lane.name : (lane.name || (lane.tid ? '[no name]' : '[unknown thread]')) +
			' ' + lane.tid + (lane.goroutine ? ' goroutine ' + parseInt(lane.goroutine, 16) : '') }));
	const calls = data.calls.map(([lane, depth, f, start, ns, open, args = '', result]) => ({
		lane: lanes[lane], depth, f, start, ns, open, args, result
	}));
	for (const c of [...calls].sort((a, b) => a.start - b.start)) c.lane.calls.push(c);
	const marks = (data.marks || []).map(([start, kind, text, lane]) => ({ start, kind, lane: lanes[lane],
		name: kind === 'mark' ? text : 'recording ' + kind + 's' }));

	/* ---- places ---- */

	/* As many rows as the calls in view need. The canvas is as high as what is seen of them: a browser's canvases have a limit. */
	function place() {
		for (const l of lanes) l.depth = 0;
		for (const c of calls)
			if (c.start <= view[1] && c.start + c.ns >= view[0]) c.lane.depth = Math.max(c.lane.depth, c.depth + 1);
		let y = 0;
		for (const l of lanes) {
			l.y = y;
			y += STRIP + l.depth * ROW + GAP;
		}
		return y;
	}
	const width = () => canvas.clientWidth || 1;
	const x_of = t => (t - view[0]) / (view[1] - view[0]) * width();
	const t_of = x => view[0] + x / width() * (view[1] - view[0]);

	/* ---- colours: a function has that of the flame graph ---- */

	const style = getComputedStyle(section);
	const colour = name => style.getPropertyValue(name).trim();
	const palette = Array.from({ length: 12 }, (x, i) => colour('--c' + i)), known = new Map();
	function colour_of(f) {
		if (!known.has(f)) {
			let h = 2166136261;
			for (const b of new TextEncoder().encode(page.name(f))) h = Math.imul(h ^ b, 16777619) >>> 0;
			known.set(f, palette[((h ^ h >>> 15) >>> 0) % 12]);
		}
		return known.get(f);
	}

	/* ---- drawing ---- */

	function prepare(c, h) {
		const scale = window.devicePixelRatio || 1, w = width();
		if (c.width !== Math.round(w * scale) || c.height !== Math.round(h * scale)) {
			c.width = Math.round(w * scale);
			c.height = Math.round(h * scale);
		}
		const g = c.getContext('2d');
		g.setTransform(scale, 0, 0, scale, 0, 0);
		g.clearRect(0, 0, w, h);
		g.textBaseline = 'middle';
		return g;
	}

	/* 1, 2 or 5 times a power of ten, about 110 pixels apart */
	function step() {
		const rough = (view[1] - view[0]) * 110 / width(), ten = 10 ** Math.floor(Math.log10(rough));
		return Math.max(1, ten * [1, 2, 5, 10].find(n => n * ten >= rough));
	}

	function draw_ruler() {
		const g = prepare(ruler, 22), by = step();
		const unit = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]].find(u => by >= u[1] / 2) || ['ns', 1];
		const decimals = by < unit[1] ? 1 : 0;
		g.font = '11px system-ui, sans-serif';
		g.fillStyle = look.dim;
		for (let t = Math.ceil((view[0] + data.begin) / by) * by; t <= view[1] + data.begin; t += by) {
			const x = x_of(t - data.begin);
			g.fillRect(Math.round(x), 16, 1, 6);
			if (x < width() - 60) g.fillText((t / unit[1]).toFixed(decimals) + ' ' + unit[0], x + 4, 10);
		}
	}

	function draw_strip(g, l) {
		const w = data.width;
		for (const [i, events = 0, busy = 0, lost = 0, unknown = 0] of l.buckets) {
			const x = Math.round(x_of(i * w - data.before)), right = Math.round(x_of((i + 1) * w - data.before));
			if (right < 0 || x > width()) continue;
			const h = events ? 2 + (STRIP - 8) * Math.sqrt(events / l.most) : 0, wide = Math.max(right - x, 1);
			g.fillStyle = look.density;
			g.fillRect(x, l.y + STRIP - 2 - h, wide, h);
			if (!lost && !unknown) continue;
			g.fillStyle = lost ? look.not : look.accent;
			g.fillRect(x, l.y + STRIP - 2, Math.max(wide, lost ? 3 : 1), 2);
		}
		g.font = '600 11px system-ui, sans-serif';
		g.lineWidth = 3;
		g.lineJoin = 'round';
		g.strokeStyle = look.panel;
		g.strokeText(l.title, 6, l.y + 9);
		g.fillStyle = look.ink;
		g.fillText(l.title, 6, l.y + 9);
	}

	/* The calls in view, by depth, from left to right. Calls of less than a pixel are there once a pixel. */
	function rows_of(l) {
		const rows = Array.from({ length: l.depth }, () => []);
		for (const c of l.calls) {
			const x = Math.max(x_of(c.start), -1), right = Math.min(x_of(c.start + c.ns), width() + 1);
			if (right < 0 || x > width()) continue;
			const row = rows[c.depth], last = row[row.length - 1];
			if (!last || right > last.full) row.push({ c, x, right, full: right - x < 1 ? x + 1 : right });
		}
		return rows;
	}

	/* The name is in the bar if there is room for three letters, else beside it if it is free up to the next one. */
	function draw_name(g, bar, next, y) {
		const name = page.name(bar.c.f), inside = Math.floor((bar.right - bar.x - 8) / LETTER);
		const beside = Math.floor(((next ? next.x : width()) - bar.full - 6) / LETTER), within = inside >= Math.min(name.length, 3);
		const room = within ? inside : beside;
		if (room < Math.min(name.length, within ? 3 : 6)) return null;
		const text = room >= name.length ? name : name.slice(0, room - 1) + '\u2026';
		g.fillStyle = !within ? look.dim : bar.c.open ? look.ink : '#1c1917';
		g.fillText(text, within ? bar.x + 4 : bar.full + 3, y + ROW / 2);
		return text;
	}

	function draw_calls(g, l, labels) {
		g.font = '11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
		rows_of(l).forEach((row, depth) => {
			const y = l.y + STRIP + depth * ROW;
			if (y + ROW < box.scrollTop || y > box.scrollTop + box.clientHeight) return;
			row.forEach((bar, i) => {
				const w = bar.right - bar.x, wide = Math.max(w - (w > 3 ? .5 : 0), 1);
				g.globalAlpha = bar.c.open ? .4 : 1;
				g.fillStyle = colour_of(bar.c.f);
				g.fillRect(bar.x, y, wide, ROW - 1);
				g.globalAlpha = 1;
				if (bar.c === at) {
					g.strokeStyle = look.ink;
					g.lineWidth = 1.5;
					g.strokeRect(bar.x, y, wide, ROW - 1);
				}
				const text = draw_name(g, bar, row[i + 1], y);
				if (text) labels.push({ text, depth, call: bar.c });
			});
		});
	}

	/* Lines over all threads; what was not recorded is shaded. */
	function draw_marks(g, r, h) {
		let from = marks.length && marks[0].kind === 'start' ? 0 : null;
		const shade = to => {
			g.fillStyle = look.dim;
			g.globalAlpha = .18;
			g.fillRect(x_of(from), 0, x_of(to) - x_of(from), h);
			g.globalAlpha = 1;
			from = null;
		};
		for (const m of marks) {
			const x = Math.round(x_of(m.start));
			if (m.kind === 'stop') from = m.start;
			else if (m.kind === 'start' && from !== null) shade(m.start);
			if (x < 0 || x > width()) continue;
			g.fillStyle = r.fillStyle = m.kind === 'mark' ? look.accent : look.dim;
			g.fillRect(x, 0, m === at ? 2 : 1, h);
			r.fillRect(x - 2, 16, 5, 6);
		}
		if (from !== null) shade(span);
	}

	function draw() {
		const h = place();
		queued = false;
		for (const name of ['density', 'not', 'accent', 'panel', 'ink', 'dim']) look[name] = colour('--' + name);
		tall.style.height = h + 'px';
		box.style.minHeight = box.style.minHeight || Math.min(box.clientHeight, 120) + 'px';
		const seen = Math.min(h, Math.max(box.clientHeight, 1)), labels = [];
		canvas.style.height = seen + 'px';
		const g = prepare(canvas, seen);
		g.translate(0, -box.scrollTop);
		draw_ruler();
		for (const l of lanes) {
			draw_strip(g, l);
			draw_calls(g, l, labels);
		}
		section.timeline.labels = labels;
		draw_marks(g, ruler.getContext('2d'), h);
		if (drag && drag.x !== drag.from) {
			g.fillStyle = look.accent;
			g.globalAlpha = .18;
			g.fillRect(Math.min(drag.x, drag.from), 0, Math.abs(drag.x - drag.from), h);
			g.globalAlpha = 1;
		}
	}
	function queue() {
		if (!queued) requestAnimationFrame(draw);
		queued = true;
	}

	/* ---- moving ---- */

	function show(from, to) {
		const long = Math.min(Math.max(to - from, 50), span);
		from = Math.min(Math.max(from, 0), span - long);
		view = [from, from + long];
		queue();
	}
	const pan = share => show(view[0] + share * (view[1] - view[0]), view[1] + share * (view[1] - view[0]));
	function zoom(by, t) {
		t = t === undefined ? (view[0] + view[1]) / 2 : t;
		const long = Math.max((view[1] - view[0]) * by, 50), share = (t - view[0]) / (view[1] - view[0]);
		show(t - share * long, t + (1 - share) * long);
	}
	function show_call(c) {
		at = c;
		show(c.start - c.ns * .1, c.start + c.ns * 1.1);
		draw();
		box.scrollTop = c.lane.y + c.depth * ROW - 100;
		tell_call(c);
	}

	/* ---- what is under the pointer ---- */

	const when = t => page.time(Math.round(t + data.begin));
	function tell_mark(m) {
		details.textContent = (m.kind === 'mark' ? 'mark: ' : '') + m.name + ', at ' + when(m.start) + (m.lane ? ', ' + m.lane.title : '');
	}
	const values = c => c.args + (c.result === undefined ? '' : ' = ' + c.result);
	function tell_call(c) {
		details.textContent = page.name(c.f) + values(c) + ' \u2014 ' + page.time(c.ns) + (c.open ? ' so far, not returned' : '') +
			', from ' + when(c.start) + ', ' + c.lane.title;
	}
	function tell_bucket(l, t) {
		const i = Math.floor((t + data.before) / data.width), b = l.buckets.find(x => x[0] === i) || [i];
		const [, events = 0, busy = 0, lost = 0, unknown = 0] = b;
		details.textContent = l.title + ', ' + page.time(data.width) + ' from ' + when(Math.max(i * data.width - data.before, 0)) + ': ' +
			page.count(events) + ' timed events' + (l.tid !== undefined ? ', ' +
			(100 * Math.min(busy / data.width, 1)).toFixed(0) + ' % within traced calls' : '') +
			(lost ? ', ' + page.count(lost) + ' lost' : '') + (unknown ? ', ' + page.count(unknown) + ' times path unknown' : '');
	}
	function find(x, y) {
		const l = lanes.find(k => y >= k.y && y < k.y + STRIP + k.depth * ROW + GAP);
		const depth = l ? Math.floor((y - l.y - STRIP) / ROW) : -1, near = t_of(x + 1) - t_of(x);
		const c = l && y >= l.y + STRIP && l.calls.find(k => k.depth === depth &&
			k.start - near <= t_of(x) && t_of(x) <= k.start + Math.max(k.ns, near));
		const m = marks.find(k => Math.abs(x_of(k.start) - x) < 3);
		return { l, c: c || null, m };
	}

	/* ---- events ---- */

	const place_of = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top + box.scrollTop]; };
	canvas.onpointerdown = e => {
		if (e.button || e.pointerType === 'touch') return;
		const [x, y] = place_of(e);
		drag = { from: x, x, y };
		canvas.setPointerCapture(e.pointerId);
	};
	canvas.onpointermove = e => {
		const [x, y] = place_of(e);
		if (drag) {
			drag.x = x;
			details.textContent = page.time(Math.round(Math.abs(t_of(drag.x) - t_of(drag.from)))) + ' from ' + when(t_of(Math.min(drag.x, drag.from)));
			return queue();
		}
		const { l, c, m } = find(x, y), now = m || c;
		if (now !== at) queue();
		at = now;
		if (m) tell_mark(m); else if (c) tell_call(c); else if (l) tell_bucket(l, t_of(x)); else details.textContent = hint;
		canvas.style.cursor = c ? 'pointer' : '';
	};
	canvas.onpointerup = () => {
		const d = drag;
		drag = null;
		queue();
		dragged = !!d && Math.abs(d.x - d.from) > 3;
		if (dragged) show(...[t_of(d.from), t_of(d.x)].sort((a, b) => a - b));
	};
	canvas.onpointercancel = () => { drag = null; queue(); };
	canvas.onpointerleave = () => { if (!drag) { at = null; details.textContent = hint; queue(); } };
	canvas.ondblclick = () => show(0, span);
	canvas.onclick = e => {
		const { c } = find(...place_of(e));
		if (c && !dragged) page.open(c.f);
	};
	box.addEventListener('wheel', e => {
		if (e.ctrlKey || e.metaKey) zoom(Math.exp(e.deltaY / 200), t_of(place_of(e)[0]));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / width());
		else return;
		e.preventDefault();
	}, { passive: false });
	const keys = { '+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2), 'Escape': () => show(0, span), '0': () => show(0, span),
		ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2), Home: () => show(0, view[1] - view[0]), End: () => show(span - (view[1] - view[0]), span) };
	box.onkeydown = e => {
		if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
		e.preventDefault();
		keys[e.key]();
	};
	one('.in').onclick = () => zoom(.5);
	one('.out').onclick = () => zoom(2);
	one('.whole').onclick = () => show(0, span);
	window.addEventListener('resize', queue);
	box.addEventListener('scroll', queue);
	new ResizeObserver(queue).observe(box);
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', queue);

	/* ---- the longest calls, as a table ---- */

	function longest(c) {
		const button = page.make('button', { type: 'button' }, page.name(c.f));
		const cell = (text, cls) => page.make('td', cls ? { class: cls } : {}, text);
		button.onclick = () => { show_call(c); box.scrollIntoView({ block: 'center' }); };
		const name = cell(button, 'name');
		name.append(page.make('span', { class: 'values' }, values(c)));
		return page.make('tr', {}, name, cell(page.time(c.ns) + (c.open ? ', not returned' : '')),
			cell(when(c.start)), cell(c.lane.title, 'where'));
	}
	one('tbody').append(...[...calls].sort((a, b) => b.ns - a.ns || a.start - b.start).slice(0, LONGEST).map(longest));
	one('details').hidden = !calls.length;
	/* ---- the marks, as a table ---- */

	function show_mark(m) {
		const long = view[1] - view[0];
		at = m;
		show(m.start - long / 2, m.start + long / 2);
		draw();
		tell_mark(m);
	}
	function noted(m) {
		const button = page.make('button', { type: 'button' }, m.name);
		button.onclick = () => { show_mark(m); box.scrollIntoView({ block: 'center' }); };
		return page.make('tr', {}, page.make('td', { class: 'name' }, button), page.make('td', {}, when(m.start)),
			page.make('td', { class: 'where' }, m.lane ? m.lane.title : ''));
	}
	one('.marks tbody').append(...marks.map(noted));
	one('.marks').hidden = !marks.length;

	one('.facts').textContent = (data.omitted ? 'The ' + page.count(calls.length) + ' longest calls; ' + page.count(data.omitted) +
		' of ' + page.time(data.shortest) + ' or less are in the grey strip only. ' : '') +
		'Grey: events. Pale: calls that did not return. Times are from the start of the trace.';
	section.hidden = !lanes.length || !data.span;
	section.timeline = { show, zoom, draw, calls, lanes, marks, labels: [], view: () => view };
	if (!section.hidden) draw();
}
