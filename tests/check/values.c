/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of each kind, for t_values.sh: what debuggers show of them at the entry is known. */
#include <stdio.h>
#include <stdbool.h>

#define K      __attribute__((noinline))
#define USE(x) __asm__ volatile("" ::"m"(x) : "memory")

typedef struct {
	int x, y;
} pair;
typedef struct {
	int a, b, c;
} three;
typedef struct {
	long a, b;
} two;
typedef struct {
	long a, b, c;
} big;
typedef struct {
	double d;
	long l;
} float_first;
typedef struct {
	long l;
	double d;
} float_last;
typedef struct {
	float a, b;
} floats;
typedef struct {
	float f;
	int i;
} half_float;
typedef struct {
	double a, b;
} doubles;
typedef struct {
	char c;
	short s;
	int i;
} small;
typedef struct {
	char text[8];
} letters;
typedef struct {
	char text[3];
} few;
typedef struct {
	int v[3];
} array;
typedef struct {
	short m[2][3];
} matrix;
typedef struct {
	pair p;
	struct {
		char c;
		bool b;
	} in;
} nested;
typedef struct {
	int a;
	struct {
		int b, c;
	};
} unnamed;
typedef struct {
	unsigned a : 3;
	int b : 5;
	unsigned c : 20;
	int d : 9;
} bits;
typedef struct {
	long a : 40;
	unsigned long b : 24;
	unsigned e : 1;
} long_bits;
typedef union {
	int i;
	unsigned char c[4];
} overlaid;
typedef struct {
	const char *name;
	int n;
} named;
typedef struct __attribute__((packed)) {
	char c;
	int i;
	short s;
} packed;
typedef struct __attribute__((packed)) {
	char c;
	long l;
} packed_word;
typedef struct __attribute__((aligned(16))) {
	int a;
} aligned;
typedef struct {
	long double d;
} extended;
typedef struct {
	__int128 w;
} wide;
typedef struct {
	char c;
} one;
typedef struct {
	char c[17];
} odd;
typedef struct {
} nothing;
typedef enum { RED, GREEN = 5, BLUE = -1 } colour;
typedef struct {
	colour c;
	bool b;
} coloured;
typedef float v4 __attribute__((vector_size(16)));
typedef int v2 __attribute__((vector_size(8)));

K int numbers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
	      unsigned long h)
{
	USE(h);
	return a + b + c + d + e + f + g;
}
K int texts(const char *a, const char *b, char c, bool d, colour e)
{
	USE(*a);
	return (b != 0) + c + d + e;
}
K int reals(int a, double b, int c, float d, int e)
{
	USE(a);
	return b + c + d + e;
}
K int many_reals(double a, double b, double c, double d, double e, double f, double g, double h,
		 double i, float j, int k)
{
	USE(i);
	return a + b + c + d + e + f + g + h + j + k;
}
K int extended_real(int a, long double b, int c, int d, int e, int f, int g, int h, int i)
{
	USE(b);
	return a + c + d + e + f + g + h + i;
}
K int complex_real(int a, _Complex double b, int c, _Complex float d, int e)
{
	USE(b);
	USE(d);
	return a + c + e;
}
K int vectors(int a, v4 b, int c, v2 d, int e)
{
	USE(b);
	USE(d);
	return a + c + e;
}
K int pairs(pair p, three s, int z)
{
	return p.x > 3 ? s.b : z;
}
K int by_words(two a, int b, two c, int d, two e, int f)
{
	USE(a);
	USE(e);
	return b + c.a + d + f;
}
K int on_stack(int a, big b, int c, three d)
{
	USE(b);
	return a + c + d.c + b.c;
}
K int mixed(float_first a, float_last b, int c)
{
	USE(a);
	return b.l + c;
}
K int singles(floats a, half_float b, doubles c, int d)
{
	USE(a);
	USE(b);
	return c.a + d;
}
K int packed_ones(packed a, int b, packed_word c, int d)
{
	USE(a);
	USE(c);
	return b + d;
}
K int smalls(small a, one b, few c, int d)
{
	USE(a);
	return b.c + c.text[0] + d;
}
K int strings(letters a, few b, named c, int d)
{
	USE(a);
	USE(c);
	return b.text[1] + d;
}
K int arrays(array a, matrix b, int c)
{
	USE(a);
	USE(b);
	return c;
}
K int inner(nested a, unnamed b, int c)
{
	USE(a);
	return b.c + c;
}
K int fields(bits a, long_bits b, int c)
{
	USE(a);
	return b.a + c;
}
K int unions(overlaid a, int b)
{
	USE(a);
	return b;
}
K int alignments(int a, aligned b, int c, aligned d, int e, int f, int g, int h, int i)
{
	USE(b);
	USE(d);
	return a + c + e + f + g + h + i;
}
K int extended_struct(int a, extended b, int c)
{
	USE(b);
	return a + c;
}
K int wide_first(__int128 a, int b, unsigned __int128 c, int d)
{
	USE(a);
	USE(c);
	return b + d;
}
K int wide_late(int a, int b, int c, int d, int e, __int128 w, int z, int y)
{
	USE(w);
	return a + b + c + d + e + z + y;
}
K int wide_struct(int a, wide b, int c, int d, int e, wide f, int g, int h)
{
	USE(b);
	USE(f);
	return a + c + d + e + g + h;
}
K int colours(coloured a, colour b, int c)
{
	USE(a);
	return b + c;
}
K int odd_size(int a, odd b, int c)
{
	USE(b);
	return a + c;
}
K int empty(int a, nothing b, int c)
{
	USE(b);
	return a + c;
}
K int more(int a, int b, int c, int d, int e, int f, pair g, short h, char i, unsigned char j,
	   named k, long l)
{
	USE(g);
	USE(k);
	return a + b + c + d + e + f + h + i + j + l;
}
K int old_style(a, b, c)
int a;
float b;
char c;
{
	USE(a);
	return b + c;
}
K int addresses(int a, pair b, big c, int d)
{
	int *p = &a;
	pair *q = &b;
	USE(p);
	USE(q);
	USE(c);
	return *p + q->y + d;
}
K int variable(int n, pair p, ...)
{
	USE(n);
	return p.x;
}
static K int unused(const char *what, void *user, int level)
{
	__asm__ volatile("");
	return level > 2 ? level : 1;
}
static K int unused_struct(pair a, int b, three c, int d)
{
	__asm__ volatile("");
	return b + d + c.a;
}
static K int taken(int a, int b, int c)
{
	int *p = &b;
	USE(p);
	return *p + c;
}
static K int constant(int a, int b)
{
	__asm__ volatile("");
	return a * b;
}
K pair gives_pair(int a)
{
	return (pair){a, a + 1};
}
K three gives_three(int a)
{
	return (three){a, a + 1, a + 2};
}
K two gives_two(int a)
{
	return (two){a, a + 1};
}
K big gives_big(int a)
{
	return (big){a, a + 1, a + 2};
}
K float_last gives_mixed(int a)
{
	return (float_last){a, 2.5};
}
K float_first gives_first(int a)
{
	return (float_first){2.5, a};
}
K half_float gives_half(int a)
{
	return (half_float){1.5f, a};
}

int main(void)
{
	int s = 0;

	s += numbers(-1, 200, -300, 40000, -5, 4000000000u, -6, 7);
	s += texts("hello", 0, 'x', true, GREEN) + texts("", "again", '\n', false, BLUE);
	s += reals(1, 2.5, 3, 4.25f, 5);
	s += many_reals(1, 2, 3, 4, 5, 6, 7, 8, 9.5, 10.25f, 11);
	s += extended_real(1, 2.5L, 3, 4, 5, 6, 7, 8, 9);
	s += complex_real(1, 2.5 + 1.0i, 3, 4.0f + 2.0fi, 5);
	s += vectors(1, (v4){1, 2, 3, 4}, 5, (v2){6, 7}, 8);
	s += pairs((pair){1, 2}, (three){3, 4, 5}, 6);
	s += by_words((two){1, 2}, 3, (two){4, 5}, 6, (two){7, 8}, 9);
	s += on_stack(1, (big){2, 3, 4}, 5, (three){6, 7, 8});
	s += mixed((float_first){1.5, 2}, (float_last){3, 4.5}, 5);
	s += singles((floats){1.5f, 2.5f}, (half_float){3.5f, 4}, (doubles){5, 6}, 7);
	s += packed_ones((packed){'a', 2, 3}, 4, (packed_word){'b', 5}, 6);
	s += smalls((small){'a', -2, 3}, (one){'b'}, (few){"cd"}, 4);
	s += strings((letters){"abcdefg"}, (few){"hi"}, (named){"name", 3}, 4);
	s += arrays((array){{1, 2, 3}}, (matrix){{{4, 5, 6}, {7, 8, 9}}}, 10);
	s += inner((nested){{1, 2}, {'c', true}}, (unnamed){4, {5, 6}}, 7);
	s += fields((bits){5, -7, 99999, -200}, (long_bits){-123456789012, 7654321, 1}, 8);
	s += unions((overlaid){0x01020304}, 5);
	s += alignments(1, (aligned){2}, 3, (aligned){4}, 5, 6, 7, 8, 9);
	s += extended_struct(1, (extended){2.5L}, 3);
	s += wide_first(((__int128)1 << 64) + 5, 2, ((unsigned __int128)3 << 100), 4) +
	     wide_first(-9, 2, 6, 4);
	s += wide_late(1, 2, 3, 4, 5, ((__int128)6 << 64) | 7, 15, 16);
	s += wide_struct(1, (wide){2}, 3, 4, 5, (wide){6}, 7, 8);
	s += colours((coloured){BLUE, true}, RED, 3);
	s += odd_size(1, (odd){"0123456789abcdef"}, 2);
	s += empty(1, (nothing){}, 2);
	s += more(1, 2, 3, 4, 5, 6, (pair){7, 8}, -9, 'j', 200, (named){"stack", 11}, 12);
	s += old_style(1, 2.5f, 'c');
	s += addresses(1, (pair){2, 3}, (big){4, 5, 6}, 7);
	s += variable(2, (pair){1, 2}, 3, 4);
	for (int i = 1; i < 3; i++) {
		s += unused("text", &s, i) +
		     unused_struct((pair){i, 2}, 3, (three){4, 5, 6}, 7 + i);
		s += taken(i, i + 1, i + 2) + constant(i, 10);
	}
	s += gives_pair(1).y + gives_three(2).c + gives_two(3).b + gives_big(4).c;
	s += gives_mixed(5).l + gives_first(6).l + gives_half(7).i;
	printf("%d\n", s);
	return 0;
}
