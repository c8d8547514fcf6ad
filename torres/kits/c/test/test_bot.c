/* The README has the command that runs this test. It includes the bot, because a bot is
 * a program and no library. */
#include <assert.h>
#define main bot_main
#include "../bot.c"
#undef main

int main(void) {
    static char *legal[MAX_LEGAL];
    char decide[] = "{\"type\":\"decide\",\"legal\":[\"block c4\",\"buy\",\"end\"]}";
    char last[] = "{\"type\":\"decide\",\"legal\":[\"end 3,2\",\"end 3,3\"]}";

    assert(read_legal(decide, legal) == 3);
    assert(strcmp(legal[0], "block c4") == 0 && strcmp(legal[2], "end") == 0);
    for (int i = 0; i < 50; i++) assert(choose(legal, 3) < 2); /* it never ends early */

    assert(read_legal(last, legal) == 2);
    assert(strcmp(legal[1], "end 3,3") == 0);
    assert(choose(legal, 2) < 2);

    sow("{\"seed\":\"9f\"}");
    unsigned first = below(1000);
    sow("{\"seed\":\"9f\"}");
    assert(below(1000) == first); /* the same seed gives the same game */
    puts("all tests passed");
    return 0;
}
