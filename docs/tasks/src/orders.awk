# Makes 100 orders. -v bad=N: each Nth asks for what there isn't; -v items=N: with N items each.
BEGIN {
	n = split("tea salt rice flour sugar oil", item)
	for (i = 1; i <= 100; i++) {
		order = "customer"
		for (k = 0; k < (items ? items : 4); k++)
			order = order " " item[(i * 7 + k * 5) % n + 1] "*" (i * 3 + k) % 9 + 1
		print bad && i % bad == 0 ? order " gold*1" : order
	}
}
