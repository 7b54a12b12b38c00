/* SPDX-License-Identifier: BSD-2-Clause */
/* The price of a parcel: tariff GRAMS ZONE. */
#include <stdio.h>
#include <stdlib.h>

static int weight_class(int grams)
{
	if (grams <= 500)
		return 0;
	return grams <= 2000 ? 1 : 2;
}

static int base_price(int class, int zone)
{
	static const int prices[3][3] = {{390, 480, 620}, {590, 740, 980}, {890, 1190, 1650}};

	return prices[class][zone];
}

static int surcharge(int grams, int zone)
{
	if (zone == 2 && grams > 1000)
		return 1500;
	return zone ? 120 : 0;
}

int main(int argc, char **argv)
{
	int grams, zone, cents;

	if (argc != 3)
		return 2;
	grams = atoi(argv[1]);
	zone = atoi(argv[2]);
	if (grams < 1 || zone < 0 || zone > 2)
		return 1;
	cents = base_price(weight_class(grams), zone) + surcharge(grams, zone);
	printf("%d.%02d\n", cents / 100, cents % 100);
	return 0;
}
