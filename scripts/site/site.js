// SPDX-License-Identifier: BSD-2-Clause
/* The search, and the list of pages on narrow screens. search_index: [page, title, anchor, heading, words] a section. */
'use strict';
const MOST = 30, AROUND = 60;
const field = document.getElementById('search'), found = document.getElementById('found');
const menu = document.getElementById('menu'), sidebar = document.getElementById('sidebar');
const root = document.documentElement.dataset.root;

/* All words have to be there; those in the title or the heading count more. Returns 0 if one is missing. */
function score(row, words) {
	const title = row[1].toLowerCase(), heading = row[3].toLowerCase(), text = row[4].toLowerCase();
	let sum = 0;
	for (const w of words) {
		const s = (title.includes(w) ? 8 : 0) + (heading.includes(w) ? 5 : 0) + (text.includes(w) ? 1 : 0);
		if (!s) return 0;
		sum += s;
	}
	return sum;
}

function excerpt(text, word) {
	const at = Math.max(text.toLowerCase().indexOf(word) - AROUND / 2, 0);
	return (at ? '\u2026' : '') + text.slice(at, at + 2 * AROUND);
}

function show() {
	const words = field.value.toLowerCase().split(/\s+/).filter(w => w);
	const rows = !words.length ? [] : search_index.map(row => [score(row, words), row]).filter(r => r[0])
		.sort((a, b) => b[0] - a[0]).slice(0, MOST);
	found.replaceChildren(...rows.map(([, row]) => {
		const a = document.createElement('a'), small = document.createElement('small');
		a.href = root + '/' + row[0] + (row[2] ? '#' + row[2] : '');
		a.textContent = row[1] + (row[3] === row[1] ? '' : ' \u203a ' + row[3]);
		small.textContent = excerpt(row[4], words[0]);
		a.append(small);
		return a;
	}));
	if (words.length && !rows.length) {
		const p = document.createElement('p');
		p.textContent = 'No page has all of these words.';
		found.append(p);
	}
	found.hidden = !words.length;
}

function close() {
	field.value = '';
	show();
	field.blur();
}

/* Up and down go through the results from the field on. */
function step(by) {
	const all = [field, ...found.querySelectorAll('a')], at = all.indexOf(document.activeElement);
	if (at >= 0) all[Math.min(Math.max(at + by, 0), all.length - 1)].focus();
}

field.addEventListener('input', show);
field.addEventListener('keydown', e => {
	const first = found.querySelector('a');
	if (e.key === 'Enter' && first) first.click();
});
document.addEventListener('keydown', e => {
	const inside = document.activeElement === field || found.contains(document.activeElement);
	if (e.key === '/' && !inside && !e.ctrlKey && !e.metaKey && !e.altKey) field.focus();
	else if (e.key === 'Escape' && inside) close();
	else if (e.key === 'ArrowDown' && inside) step(1);
	else if (e.key === 'ArrowUp' && inside) step(-1);
	else return;
	e.preventDefault();
});
found.addEventListener('click', () => setTimeout(close));
menu.addEventListener('click', () => menu.setAttribute('aria-expanded', sidebar.classList.toggle('open')));
const here = sidebar.querySelector('[aria-current]');
if (here && sidebar.scrollHeight > sidebar.clientHeight) sidebar.scrollTop = here.offsetTop - sidebar.clientHeight / 2;
