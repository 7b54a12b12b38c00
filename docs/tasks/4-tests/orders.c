// SPDX-License-Identifier: BSD-2-Clause
// Answers orders, one a line, by a rule written in Lua, in two threads: orders RULE ORDERS ROUNDS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static char orders[1000][200];
static int norders, rounds;
static const char *rule;

/* 0, or Lua's status: the rule raised an error. */
__attribute__((noinline)) int answer(lua_State *lua, const char *order)
{
	int status;

	lua_getglobal(lua, "rule");
	lua_pushstring(lua, order);
	status = lua_pcall(lua, 1, 1, 0);
	lua_settop(lua, 0);
	return status;
}

static void *work(void *first)
{
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	if (luaL_dofile(lua, rule))
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
	for (int round = 0; round < rounds; round++)
		for (int i = first != NULL; i < norders; i += 2)
			answer(lua, orders[i]);
	lua_close(lua);
	return NULL;
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argv[2], "r");
	pthread_t second;

	rule = argv[1];
	rounds = atoi(argv[3]);
	while (norders < 1000 && fgets(orders[norders], sizeof(orders[0]), file))
		orders[norders][strcspn(orders[norders], "\n")] = 0, norders++;
	fclose(file);
	pthread_create(&second, NULL, work, orders);
	work(NULL);
	pthread_join(second, NULL);
	return 0;
}
