// SPDX-License-Identifier: BSD-2-Clause
// Executes the statements on standard input in DuckDB and prints the rows of the last one, with a line of the columns'
// names before them: node duckdb.mjs MODULES DATABASE, MODULES being where npm has installed @duckdb/node-api.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [modules, database] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${modules}/`)('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(database)).connect();
const statements = await connection.extractStatements(readFileSync(0, 'utf8'));
let reader;

for (let i = 0; i < statements.count; i++) {
	const statement = await statements.prepare(i);
	reader = await statement.runAndReadAll();
}
const shown = (value) => (value === null ? '\\N' : String(value));
for (const row of [reader.columnNames(), ...reader.getRows()])
	console.log(row.map(shown).join('\t'));
connection.closeSync();
