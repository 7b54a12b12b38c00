// SPDX-License-Identifier: BSD-2-Clause; a line that is not embedded
(function () {
'use strict';
const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const base = path => path.slice(path.lastIndexOf('/') + 1) || path;
const grouped = new Intl.NumberFormat('en'), count = n => grouped.format(n);
const more = data.more;
const hits = n => count(n) + more;
const svgns = 'http://www.w3.org/2000/svg';
const PAGE = 200;
const by_id = new Map(data.functions.map(f => [f.id, f]));
const by_entry = new Map(data.functions.map(f => [f.object + ' ' + f.entry, f]));
for (const f of data.functions) f.lower = f.name.toLowerCase();
let order = { key: data.functions.some(f => f.net) ? 'net' : data.functions.some(f => f.timed) ? 'total' : 'branches', down: true }, all = false, shown = null;

function make(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const k in attributes) e.setAttribute(k, attributes[k]);
	e.append(...children);
	return e;
}

function time(ns) {
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
		if (ns >= size) return (ns / size).toFixed(ns >= 100 * size ? 0 : ns >= 10 * size ? 1 : 2) + ' ' + unit;
	return ns + ' ns';
}

const some = (n, what) => hits(n) + ' ' + what + (n === 1 ? '' : what.endsWith('h') ? 'es' : 's');

function share(part, whole) {
	const bar = make('span', { class: 'share' }), fill = make('i', {});
	fill.style.width = 100 * part / whole + '%';
	bar.append(fill);
	return bar;
}

/* ---- histograms: a bar for each power of two ---- */

const timed = data.functions.filter(f => f.timed);
const scale = timed.reduce(([first, last], { hist }) => [Math.min(first, hist[0][0]), Math.max(last, hist[hist.length - 1][0])], [Infinity, -Infinity]);

/* From bucket first to last: in the table all have the same, so that rows can be compared. */
function histogram(f, width, height, labels, [first, last]) {
	const svg = document.createElementNS(svgns, 'svg'), most = Math.max(...f.hist.map(h => h[1]));
	const step = Math.min(labels ? 64 : 8, width / (last - first + 1)), room = labels ? 34 : 0;
	const add = (tag, attributes, text) => {
		const e = document.createElementNS(svgns, tag);
		for (const k in attributes) e.setAttribute(k, attributes[k]);
		if (text) e.textContent = text;
		svg.append(e);
		return e;
	};
	svg.setAttribute('class', 'hist');
	svg.setAttribute('width', Math.max(step * (last - first + 1), 1));
	svg.setAttribute('height', height);
	svg.setAttribute('role', 'img');
	for (const [bucket, n] of f.hist) {
		const h = Math.max(1, (height - room) * n / most), x = (bucket - first) * step;
		const from = bucket ? time(2 ** bucket) : '0 ns', range_text = from + ' to ' + time(2 ** (bucket + 1)) + ': ' + hits(n);
		const bar = add('rect', { x, y: height - room / 2 - h, width: Math.max(step - 1, 1), height: h });
		const title = document.createElementNS(svgns, 'title');
		title.textContent = range_text;
		bar.append(title);
		if (labels) {
			add('text', { x, y: height - room / 2 - h - 3 }, hits(n));
			add('text', { x, y: height - 4 }, from);
		}
	}
	svg.setAttribute('aria-label', 'durations');
	return svg;
}

/* ---- the table ---- */

const columns = [
	{ key: 'name', title: 'function', cls: 'name', text: true,
		cell: f => { const b = make('button', { type: 'button' }, f.name); b.onclick = () => open(f); b.title = f.name; return b; } },
	{ key: 'object', title: 'object', cls: 'object', text: true, value: f => base(data.objects[f.object]) },
	{ key: 'calls', title: 'calls' },
	...!timed.length ? [] : [
		{ key: 'total', title: 'total', time: true, sum: true },
		...data.functions.some(f => f.net || f.noise) ? [{ key: 'net', title: 'net', hint: 'total without tracing', value: f => f.net ?? (f.noise ? -2 : -1),
			cell: f => f.net ? time(f.net) + more : f.noise ? make('span', { title: 'below the tracer\u2019s noise' }, 'noise') : '' }] : [],
		...data.functions.some(f => f.off !== undefined) ? [{ key: 'off', title: 'off-CPU', hint: 'of total: on no CPU', value: f => f.off ?? -1,
			cell: f => f.off === undefined ? '' : time(f.off) + more }] : [],
		...['self', 'avg', 'p50', 'p99', 'max'].map(key => ({ key, title: key, time: true, sum: key === 'self' })),
		{ key: 'hist', title: 'durations', hint: 'logarithmic, ' + time(scale[0] ? 2 ** scale[0] : 0) + ' to ' + time(2 ** (scale[1] + 1)),
			cell: f => f.timed ? histogram(f, 96, 18, false, scale) : '', value: f => f.max || 0 },
	],
	{ key: 'branches', title: 'branches' },
	{ key: 'share', title: 'taken', value: f => f.conditional ? f.taken / f.conditional : -1,
		cell: f => f.conditional ? [share(f.taken, f.conditional),
			make('span', { class: 'figure' }, (100 * f.taken / f.conditional).toFixed(1) + ' %')] : '' },
	...['blocks', 'sides'].filter(() => data.branches).map(key => ({ key, title: key,
		hint: key === 'blocks' ? 'basic blocks that ran' : 'sides of branches that were taken',
		value: f => f[key][1] ? f[key][0] / f[key][1] : -1, cell: f => f[key][1] ? f[key].map(count).join('/') : '' })),
];
const value = (c, f) => c.value ? c.value(f) : f[c.key] ?? -1;

function sorted() {
	const c = columns.find(x => x.key === order.key), sign = order.down ? -1 : 1;
	const wanted = $('search').value.toLowerCase();
	return data.functions.filter(f => f.lower.includes(wanted)).sort((a, b) => {
		const x = value(c, a), y = value(c, b);
		return sign * (x < y ? -1 : x > y ? 1 : 0) || a.id - b.id;
	});
}

function row(f) {
	const tr = make('tr', f === shown ? { class: 'at' } : {});
	for (const c of columns) {
		const td = make('td', c.cls ? { class: c.cls } : {}), v = value(c, f);
		td.append(...[c.cell ? c.cell(f) : c.text ? v : v === -1 ? '' : c.sum ? time(v) + more : c.time ? time(v) : hits(v)].flat());
		tr.append(td);
	}
	return tr;
}

function fill() {
	const list = sorted(), few = all ? list : list.slice(0, PAGE);
	document.querySelector('#functions tbody').replaceChildren(...few.map(row));
	$('matched').textContent = list.length === data.functions.length ? '' : count(list.length) + ' of ' + count(data.functions.length);
	$('more').hidden = few.length === list.length;
	$('more').textContent = 'Show all ' + count(list.length) + ' functions';
	for (const th of document.querySelectorAll('#functions th'))
		th.setAttribute('aria-sort', th.dataset.key !== order.key ? 'none' : order.down ? 'descending' : 'ascending');
}

function head() {
	for (const c of columns) {
		const th = make('th', { class: c.cls || '', tabindex: 0, 'data-key': c.key, scope: 'col' }, c.title);
		if (c.hint) th.title = c.hint;
		th.onclick = () => { order = { key: c.key, down: order.key === c.key ? !order.down : !c.text }; fill(); };
		th.onkeydown = e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); th.click(); } };
		document.querySelector('#functions thead tr').append(th);
	}
}

/* ---- code ---- */

const heat = (n, most) => n && most ? Math.log2(n + 1) / Math.log2(most + 1) : 0;

function link(text, f, to) {
	const there = by_entry.get(f.object + ' ' + to), other = there !== f && there;
	if (!to || (!other && !f.places.has(to))) return text;
	const a = make('a', { href: '#' }, text);
	a.onclick = e => {
		e.preventDefault();
		if (other) return open(other);
		const tr = $('at' + to);
		document.querySelectorAll('.mark').forEach(x => x.classList.remove('mark'));
		tr.classList.add('mark');
		tr.scrollIntoView({ block: 'center' });
	};
	return a;
}

function insn(f, r, cold) {
	const [kind, vaddr, offset, text, runs] = r, first = runs === null || typeof runs === 'number';
	const tr = make('tr', { id: 'at' + vaddr });
	const cells = [first ? runs === null ? '?' : hits(runs) : '', '', '', '', offset, '', r[9] || ''].map(x => make('td', {}, x));
	if (first) tr.classList.add('first');
	if (cold) tr.classList.add('cold');
	if (first && runs) cells[0].style.background = 'rgba(var(--heat),' + (.75 * heat(runs, f.most)).toFixed(3) + ')';
	cells[4].className = 'off';
	cells[5].className = 'text';
	cells[6].className = 'place';
	cells[5].append(kind === 'b' ? link(text, f, r[8]) : text);
	if (kind === 'b') {
		const taken = r[5], not = r[6];
		if (taken !== null) cells[1].append(make('span', taken ? { class: 'taken' } : {}, hits(taken)));
		if (not !== null) cells[2].append(make('span', not ? { class: 'not' } : {}, hits(not)));
		if (not !== null && taken + not) cells[3].append(share(taken, taken + not));
		if (not !== null && taken + not && !(taken && not) && !more) {
			const side = cells[taken ? 2 : 1];
			side.className = 'never';
			side.title = taken ? 'always taken' : 'never taken';
		}
	}
	tr.append(...cells);
	return tr;
}

function spanning(cls, text) {
	return make('tr', { class: cls }, make('td', { colspan: 5 }), make('td', { class: 'text', colspan: 2 }, text));
}

function listing(f) {
	const rows = JSON.parse($('code' + f.id)?.textContent || '[]'), body = make('tbody', {});
	let cold = false;
	f.places = new Set(rows.filter(r => r[0] === 'i' || r[0] === 'b').map(r => r[1]));
	for (const r of rows) {
		if (r[0] === 'p') body.append(spanning('part', r[1] + ':'));
		if (r[0] === 's') body.append(spanning('src', r[1] + '  ' + r[2]));
		if (r[0] === 'g') body.append(spanning('cold', r[1] + '  (' + count(r[2]) + " bytes that control flow doesn't reach)"));
		if (r[0] !== 'i' && r[0] !== 'b') continue;
		if (r[4] !== '') cold = r[4] === 0 || r[4] === '0';
		body.append(insn(f, r, cold));
		if (r[0] === 'b')
			for (const [n, to] of r[7]) {
				const tr = spanning('to', '  -> ' + to);
				tr.cells[0].colSpan = 1;
				for (const text of [hits(n), '', '', '']) tr.insertBefore(make('td', {}, text), tr.lastChild);
				body.append(tr);
			}
	}
	return body;
}

function facts(f) {
	const parts = [data.objects[f.object] + ', ' + f.entry, f.calls === undefined ? 'calls: not known' : some(f.calls, 'call'), some(f.branches, 'branch')];
	if (f.timed) parts.push(time(f.total) + more + ' in all, ' + time(f.min) + ' to ' + time(f.max));
	if (f.timed && f.timed < f.calls) parts.push(some(f.calls - f.timed, 'call') + ' not timed');
	if (f.open) parts.push(some(f.open, 'call') + ' still open');
	return make('p', { class: 'facts' }, parts.join(' \u00b7 '));
}

function show(f) {
	const table = make('table', { class: 'listing' }), names = ['runs', 'taken', 'not taken', '', 'offset', 'instruction', ''];
	const tr = make('tr', {}, ...names.map((n, i) => make('th', i === 4 ? { class: 'off' } : i === 5 ? { class: 'text' } : {}, n)));
	shown = f;
	table.append(make('thead', {}, tr), listing(f));
	$('code').replaceChildren(make('h2', {}, f.name), facts(f));
	if (f.timed) $('code').append(make('p', {}, histogram(f, 900, 120, true, [f.hist[0][0], f.hist[f.hist.length - 1][0]])));
	if (!data.branches) $('code').append(make('p', { class: 'missing' }, 'No branches were recorded: how often each ran is not known.'));
	if (!$('code' + f.id)) $('code').append(make('p', { class: 'missing' },
		'This page has the code of the functions with most branches; to have that of this one, name it: bbtrace report FILE NAME -F html.'));
	else $('code').append(make('div', { class: 'scroll' }, table));
	fill();
}

function open(f) {
	show(f);
	location.replace('#f' + f.id);
	$('code').scrollIntoView();
}

/* ---- the flame graph: markup for where no script runs; here only once it is about to be seen ---- */

function flame() {
	const section = $('flame'), script = document.createElementNS(svgns, 'script');
	section.innerHTML = section.querySelector('noscript').textContent;
	const idle = section.querySelector('script'); /* as all that innerHTML makes */
	script.textContent = idle.textContent;
	idle.replaceWith(script);
	section.style.minHeight = 0;
}

/* or printed */
function when_seen(element, then) {
	if (!window.IntersectionObserver) return then();
	const once = () => {
		observer.disconnect();
		window.removeEventListener('beforeprint', once);
		then();
	};
	const observer = new IntersectionObserver(entries => entries.some(e => e.isIntersecting) && once(), { rootMargin: '400px' });
	observer.observe(element);
	window.addEventListener('beforeprint', once);
}

/* ---- the rest ---- */

function cards() {
	const sum = key => data.functions.reduce((n, f) => n + (f[key] ?? 0), 0), conditional = sum('conditional');
	const ran = data.functions.filter(f => f.calls !== undefined).length;
	const all = data.ran[1] > data.functions.length ? ' of ' + count(data.ran[1]) : '';
	const list = [[(ran < data.functions.length ? hits(ran) : count(ran)) + all, !all && ran === 1 ? 'function ran' : 'functions ran'],
		[hits(sum('calls')), 'calls'], [hits(sum('branches')), 'branches'],
		[conditional ? (100 * sum('taken') / conditional).toFixed(1) + ' %' : '-', 'of conditionals taken'],
		...data.threads ? [[time(data.span), 'from first to last'], [count(data.threads), data.threads === 1 ? 'thread' : 'threads']] : [],
		[count(data.totals.probes), 'probes'], [(data.totals.at_least ? 'at least ' : '') + count(data.totals.lost), 'events lost']];
	$('cards').append(...list.map(([n, what]) => make('div', { class: 'card' }, make('b', {}, n), make('span', {}, what))));
}

$('search').oninput = fill;
$('more').onclick = () => { all = true; fill(); };
document.addEventListener('keydown', e => {
	if (e.key === '/' && !/^(INPUT|TEXTAREA)$/.test(e.target.tagName)) { e.preventDefault(); $('search').focus(); }
});
cards();
head();
$('noise').hidden = !data.functions.some(f => f.noise);
if ($('flame')) when_seen($('flame'), flame); /* of counts there is none */
const asked = /^#f(\d+)$/.exec(location.hash);
const start = asked && by_id.get(+asked[1]) || sorted()[0];
timeline($('timeline'), JSON.parse($('timeline-data').textContent),
	{ name: id => by_id.get(id)?.name || '?', open: id => by_id.has(id) && open(by_id.get(id)), time, count, make });
if (start) show(start); else fill();
})();
