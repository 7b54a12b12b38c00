-- The price of an order, "CUSTOMER ITEM*COUNT ITEM*COUNT ...": with a rebate, the dearest item first.
local prices = { tea = 3, salt = 1, rice = 2, flour = 2, sugar = 1, oil = 4 }

function rule(order)
	local customer, rest = order:match("^(%a+) (.+)$")
	local lines, total = {}, 0

	for item, count in rest:gmatch("(%a+)%*(%d+)") do
		if not prices[item] then
			error("no such item: " .. item)
		end
		lines[#lines + 1] = { item = item, cost = prices[item] * tonumber(count) }
	end
	table.sort(lines, function(a, b) return a.cost > b.cost end)
	for _, line in ipairs(lines) do
		total = total + line.cost
	end
	if total > 50 then
		total = total - total // 10
	end
	return string.format("%s %d %s", customer, total, lines[1].item)
end
