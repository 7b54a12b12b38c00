// SPDX-License-Identifier: BSD-2-Clause
/* The dot format compared with its expected output. */
#include "code_trace_fixture.h"

static void test_graph(void)
{
	autofree char *got = code_render("dot", "-ghg");

	is_str(got,
	       "digraph bbtrace {\n"
	       "\tgraph [fontname=\"sans-serif\", fontsize=12, labelloc=t, labeljust=l, label=\"missing: 3 branches that could not be probed\"];\n"
	       "\tnode [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", fontsize=9, color=\"#868e96\"];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n"
	       "\tsubgraph cluster_0 {\n"
	       "\t\tlabel=\"f<\\\"&> [pr\\\"og]: 4 calls, 11 branches\";\n"
	       "\t\tb0 [label=\"f<\\\"&>   4 runs\\ltest edi, edi\\lje f<\\\"&>+0x8\\l\", fillcolor=\"0.045 0.600 1.000\"];\n"
	       "\t\tb1 [label=\"f<\\\"&>+0x4   3 runs\\lcall rax\\l\", fillcolor=\"0.045 0.399 1.000\"];\n"
	       "\t\tb2 [label=\"f<\\\"&>+0x6   3 runs\\ldec edi\\l\", fillcolor=\"0.045 0.399 1.000\"];\n"
	       "\t\tb3 [label=\"f<\\\"&>+0x8   4 runs\\lret\\l\", fillcolor=\"0.045 0.600 1.000\"];\n"
	       "\t}\n"
	       "\tb0 -> b3 [color=\"#2b8a3e\", style=solid, label=\" 1 \", penwidth=1.666];\n"
	       "\tb0 -> b1 [color=\"#c92a2a\", style=solid, label=\" 3 \", penwidth=2.332];\n"
	       "\tx1_0 [label=\"go [x.so]\", shape=plaintext, style=\"\"];\n"
	       "\tb1 -> x1_0 [color=\"#2b8a3e\", style=solid, label=\" 2 \", penwidth=2.332];\n"
	       "\tx1_1 [label=\"hop [x.so]\", shape=plaintext, style=\"\"];\n"
	       "\tb1 -> x1_1 [color=\"#2b8a3e\", style=solid, label=\" 1 \", penwidth=1.666];\n"
	       "\tb1 -> b2 [color=\"#868e96\", style=dotted];\n"
	       "\tb2 -> b3 [color=\"#495057\", style=solid, label=\" 3 \", penwidth=2.332];\n"
	       "}\n",
	       "each block is a node, each way of a branch an edge, and names are escaped");
}

static void test_cold(void)
{
	autofree char *got = code_render("dot", "-");

	is_str(got,
	       "digraph bbtrace {\n"
	       "\tgraph [fontname=\"sans-serif\", fontsize=12, labelloc=t, labeljust=l, label=\"missing: 3 branches that could not be probed\"];\n"
	       "\tnode [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", fontsize=9, color=\"#868e96\"];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n"
	       "\tsubgraph cluster_0 {\n"
	       "\t\tlabel=\"f<\\\"&> [pr\\\"og]: 1 calls, 2 branches\";\n"
	       "\t\tb0 [label=\"f<\\\"&>   1 runs\\ltest edi, edi\\lje f<\\\"&>+0x8\\l\", fillcolor=\"0.045 0.600 1.000\"];\n"
	       "\t\tb1 [label=\"f<\\\"&>+0x4   0 runs\\lcall rax\\l\", style=dashed, color=\"#adb5bd\", fontcolor=\"#868e96\"];\n"
	       "\t\tb2 [label=\"f<\\\"&>+0x6   0 runs\\ldec edi\\l\", style=dashed, color=\"#adb5bd\", fontcolor=\"#868e96\"];\n"
	       "\t\tb3 [label=\"f<\\\"&>+0x8   1 runs\\lret\\l\", fillcolor=\"0.045 0.600 1.000\"];\n"
	       "\t}\n"
	       "\tb0 -> b3 [color=\"#2b8a3e\", style=solid, label=\" 1 \", penwidth=3.000];\n"
	       "\tb0 -> b1 [label=\" 0 \", style=dashed, color=\"#adb5bd\", fontcolor=\"#adb5bd\"];\n"
	       "\tb1 -> b2 [label=\" 0 \", style=dashed, color=\"#adb5bd\", fontcolor=\"#adb5bd\"];\n"
	       "\tb2 -> b3 [label=\" 0 \", style=dashed, color=\"#adb5bd\", fontcolor=\"#adb5bd\"];\n"
	       "}\n",
	       "a block or edge that didn't run is dashed");
}

/* graphviz refuses a longer name. A character of two bytes lies across the cut. */
static void test_long_name(void)
{
	autofree char *name = xcalloc(20001, 1), *got = NULL;
	const char *cut;

	name[0] = 'f';
	for (int i = 1; i < 20000; i += 2)
		memcpy(name + i, "\303\244", 2);
	name[19999] = 0;
	code_functions[0].name = name;
	got = code_render("dot", "-");
	code_functions[0].name = "f<\"&>";
	cut = strstr(got, "\303\244... (17000 more bytes) [pr");
	ok(cut, "a long name is cut between characters, and says so");
	ok(cut && strchr(cut, '"') && cut - strstr(got, "label=\"f") < 3100,
	   "a long name is cut well before graphviz's limit");
}

int main(void)
{
	test_graph();
	test_cold();
	test_long_name();
	return tap__done();
}
