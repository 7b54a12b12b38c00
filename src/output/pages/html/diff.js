// SPDX-License-Identifier: BSD-2-Clause; a line that is not embedded
(function () {
'use strict';
/* Tables of counts: a click on a column's head sorts by it, a second one the other way round. */
for (const table of document.querySelectorAll('.counts')) {
	const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
	const value = (row, i) => heads[i].dataset.key === 'text' ? row.cells[i].textContent : Number(row.cells[i].textContent.replace('\u2212', '-'));
	heads.forEach((th, i) => {
		const button = document.createElement('button');
		button.type = 'button';
		button.append(...th.childNodes);
		th.append(button);
		button.onclick = () => {
			const down = th.ariaSort === 'descending' ? -1 : th.ariaSort === 'ascending' || th.dataset.key !== 'text' ? 1 : -1;
			for (const other of heads) other.ariaSort = 'none';
			th.ariaSort = down > 0 ? 'descending' : 'ascending';
			body.append(...[...body.rows].sort((a, b) => {
				const x = value(a, i), y = value(b, i);
				return down * (x < y ? 1 : x > y ? -1 : 0);
			}));
		};
	});
}
})();
