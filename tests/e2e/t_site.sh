#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make site: each document and manual page is there, each link and anchor leads somewhere, nothing comes from elsewhere,
# the search knows what pages say, and the same tree gives the same bytes.
. "$(dirname "$0")/lib.sh"
needs cmd:cmark-gfm cmd:mandoc cmd:python3 cmd:cmp
cd "$ROOT" || exit 2

mkdir "$T/man"
for verb in man/verbs/*.mdoc; do
	name=$(basename "$verb" .mdoc)
	scripts/manual.sh "$BBTRACE" "$name" >"$T/man/bbtrace-$name.8" || exit 2
done
scripts/site/site.pl "$T/site" "$T/man" >"$T/out" 2>"$T/err"
is "$? $(<"$T/err")" '0 ' 'the site is built'

pages() { find "$T/site" -name '*.html' -printf '%P\n' | LC_ALL=C sort; }
wanted() {
	git ls-files 'docs/*.md' ARCHITECTURE.md CHANGELOG.md CONTRACT.md CONTRIBUTING.md HACKING.md README.md SECURITY.md |
		sed -E 's,^README.md,index.md,; s,/README.md,/index.md,; s,md$,html,'
	(cd man && printf '%s.html\n' ./*.[578]) | sed 's,^./,,'
	(cd "$T/man" && printf '%s.html\n' *.8)
}
is "$(pages)" "$(wanted | LC_ALL=C sort)" 'each document and each manual page has a page'

cat >"$T/links.py" <<'END'
import html.parser, os, sys, urllib.parse
root, ids, links = sys.argv[1], {}, []
VOID = {"meta", "link", "input", "br", "hr", "img", "wbr", "col"}
for folder, _, files in os.walk(root):
    for name in (f for f in files if f.endswith(".html")):
        path, found, open_tags = os.path.join(folder, name), [], []
        class Page(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                attrs = dict(attrs)
                if "id" in attrs: found.append(attrs["id"])
                links.extend((path, attrs[k]) for k in ("href", "src") if k in attrs)
                if tag not in VOID: open_tags.append(tag)
            def handle_endtag(self, tag):
                while tag in open_tags and open_tags.pop() != tag: pass
        Page().feed(open(path, encoding="utf-8").read())
        if len(found) != len(set(found)): print("an id twice:", path, {i for i in found if found.count(i) > 1})
        ids[path] = set(found)
count = 0
for path, link in links:
    count += 1
    if link.startswith(("http:", "https:", "mailto:", "data:")): continue
    name, _, anchor = link.partition("#")
    to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
    if os.path.isdir(to) or not os.path.exists(to): print("leads nowhere:", path, link)
    elif anchor and urllib.parse.unquote(anchor) not in ids.get(to, {urllib.parse.unquote(anchor)}): print("no such anchor:", path, link)
print("links" if count > 3000 else f"only {count} links")
END
is "$(python3 "$T/links.py" "$T/site")" links 'each link and each anchor of it is there'
is "$(grep -rhoE '<(link|script|img|iframe)[^>]*(href|src)="?(https?:)?//[^"]*' "$T/site" | wc -l)" 0 'nothing is loaded from elsewhere'
is "$(grep -rlE 'href="[^"]*[.](c|h|sh)"' "$T/site" | xargs -r grep -ohE 'href="[^"]*[.](c|h|sh)"' | grep -vc 'src/')" 0 \
	'sources are linked only where they are copied'
is "$(grep -cE '"docs/tasks/1-error-path.html","[^"]*","[^"]*","[^"]*","[^"]*invalid configuration' "$T/site/search-index.js")" 1 \
	'the search has what a task says'
is "$(grep -c '"bbtrace-why.8.html","bbtrace-why(8)","DESCRIPTION"' "$T/site/search-index.js")" 1 'and the sections of a manual page'

scripts/site/site.pl "$T/again" "$T/man" >/dev/null 2>&1
is "$(diff -r "$T/site" "$T/again" 2>&1)" '' 'the same tree gives the same bytes'
done_testing
