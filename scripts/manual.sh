#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# manual.sh BBTRACE VERB: the manual's page of a verb, on stdout. Its name, its one line and its options are those of
# `BBTRACE help --options`; what the verb does is man/verbs/VERB.mdoc, and what an option means is in man/options.mdoc.
set -u
bbtrace=$1 verb=$2
cd "$(dirname "$0")/.." || exit 1

line=$("$bbtrace" help --options | awk -F'\t' -v verb="$verb" '$1 == verb { print $2 }')
[[ $line ]] || { echo "manual.sh: no verb $verb" >&2; exit 1; }
"$bbtrace" help --options "$verb" | awk -F'\t' -v verb="$verb" -v line="$line" -v date="$(grep '^\.Dd' man/bbtrace.8)" '
	# a line of help as a sentence; a line of mdoc may not begin with a full stop or a quote
	function sentence(text) { return "\\&" toupper(substr(text, 1, 1)) substr(text, 2) "." }
	function formats() { gsub(/ /, ", ", $4); return "\\&Here: " $4 ".\n" }
	function entry(  head) {
		head = ".It Fl " ($1 == "-" ? "" : $1 " , ") "-" $2
		if ($3 == "=")
			head = head " Ns Op = Ns Ar " toupper($2)
		else if ($3 != "-")
			head = head " Ar " $3
		return head "\n" (($2, verb) in text ? text[$2, verb] : $2 in text ? text[$2] : sentence($5) "\n") ($2 == "format" ? formats() : "")
	}
	FILENAME == "man/options.mdoc" {
		if (/^\.\\" [a-z-]+( [a-z]+)?$/) {
			split($0, words, " ")
			key = words[2] (words[3] ? SUBSEP words[3] : "")
			text[key] = ""
		} else if (key)
			text[key] = text[key] $0 "\n"
		next
	}
	FILENAME == "-" {
		if ($6 != question)
			options = options (question ? ".El\n" : "") ".Ss \\&" $6 "\n.Bl -tag -width Ds\n"
		question = $6
		options = options entry()
		next
	}
	/^\.\\" SPDX/ {
		printf "%s\n%s\n.Dt BBTRACE-%s 8\n.Os\n.Sh NAME\n.Nm bbtrace-%s\n", $0, date, toupper(verb), verb
		sub(/\.$/, "", line)
		printf ".Nd %s\n", tolower(substr(line, 1, 1)) substr(line, 2)
		next
	}
	/^\.\\" OPTIONS$/ { printf ".Sh OPTIONS\n%s.El\n", options; next }
	{ print }
	END { printf ".Sh SEE ALSO\n.Xr bbtrace 8 ,\n.Xr bbtrace-formats 7\n" }
' man/options.mdoc - "man/verbs/$verb.mdoc"
