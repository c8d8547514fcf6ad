/* A first bot for Torres: it plays any legal action, all with the same probability.
 *
 * The referee writes one JSON object on each line of stdin, and the bot answers with one
 * on each line of stdout. Only answers may go to stdout: write your log to stderr.
 * Everything about the messages is in docs/protocol.md.
 *
 * The bot counts the legal actions and answers with an index, so that it needs no JSON
 * library. To read the state of the board, add one to your upload. */
#include <stdio.h>
#include <string.h>

static char line[1 << 17]; /* the referee writes at most 64 KiB on a line */
static unsigned long long seed = 88172645463325252ULL; /* any number but 0 */

/* Return a random number from 0 to bound - 1 (xorshift). */
static unsigned below(unsigned bound) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 11) % bound;
}

/* Count the strings in a list. An action has no quotes and no brackets of its own. */
static unsigned count_legal(const char *list) {
    unsigned quotes = 0;
    for (; *list && *list != ']'; list++)
        quotes += *list == '"';
    return quotes / 2;
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) {
            /* All randomness comes from this seed, so that a game can be repeated. */
            const char *text = strstr(line, "\"seed\":\"");
            for (text = text ? text + 8 : ""; *text && *text != '"'; text++)
                seed = seed * 31 + (unsigned char)*text;
            seed |= 1;
            puts("{\"type\":\"ready\"}");
        } else if (strstr(line, "\"type\":\"decide\"")) {
            /* Your ideas go here. An answer may also name its actions, as in
             * {"actions":["move b3 b4","end"]}. */
            const char *list = strstr(line, "\"legal\":[");
            unsigned legal = list ? count_legal(list + 9) : 1;
            printf("{\"index\":%u}\n", below(legal));
        }
        /* Without this the answer would stay in a buffer, and time would run out. */
        fflush(stdout);
    }
    return 0;
}
