/* A first bot for Torres: it plays any legal action, but never ends a turn early.
 *
 * The referee writes one JSON object on each line of stdin, and the bot answers with one
 * on each line of stdout. Only answers may go to stdout: write your log to stderr.
 * Everything about the messages is in docs/protocol.md.
 *
 * The bot reads only the list of legal actions, so that it needs no JSON library. To read
 * the state of the board, add one: every .c file beside this one is compiled, too. */
#include <stdio.h>
#include <string.h>

#define MAX_LEGAL 8192 /* a line of 64 KiB has fewer actions */

static char line[1 << 17]; /* the referee writes at most 64 KiB on a line */
static unsigned long long seed = 88172645463325252ULL; /* any number but 0 */

/* Return a random number from 0 to bound - 1 (xorshift). */
static unsigned below(unsigned bound) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 11) % bound;
}

/* All randomness comes from the seed in "hello", so that a game can be repeated. */
static void sow(const char *hello) {
    const char *text = strstr(hello, "\"seed\":\"");
    seed = 88172645463325252ULL;
    for (text = text ? text + 8 : ""; *text && *text != '"'; text++)
        seed = seed * 31 + (unsigned char)*text;
    seed |= 1;
}

/* Find the legal actions in a message and return how many there are. Each one becomes
 * a string of its own: the closing quotes in the message are replaced. */
static int read_legal(char *message, char *legal[]) {
    char *next = strstr(message, "\"legal\":[");
    int count = 0;
    if (!next) return 0;
    next += strlen("\"legal\":[");
    while (*next == '"' && count < MAX_LEGAL) {
        legal[count++] = ++next;
        next = strchr(next, '"');
        *next++ = '\0';
        if (*next == ',') next++;
    }
    return count;
}

/* Return the number of your action in the list. This is the place for your ideas.
 *
 * The list is sorted, and its actions have words, as in "move b3 b4" or "block c4". */
static int choose(char *const legal[], int count) {
    static int going_on[MAX_LEGAL];
    int n = 0;
    for (int i = 0; i < count; i++)
        if (strncmp(legal[i], "end", 3) != 0) going_on[n++] = i;
    return n ? going_on[below(n)] : (int)below(count);
}

/* Speak the protocol: hello, decide, decide, ..., end. After "end" the referee closes
 * stdin: then this loop ends, and so does the bot. */
int main(void) {
    static char *legal[MAX_LEGAL];
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) {
            sow(line);
            puts("{\"type\":\"ready\"}");
        } else if (strstr(line, "\"type\":\"decide\"")) {
            int count = read_legal(line, legal);
            /* An answer may also name its actions, up to a whole turn, as in
             * {"actions":["move b3 b4","end"]}. */
            printf("{\"index\":%d}\n", count ? choose(legal, count) : 0);
        }
        /* Without this the answer would stay in a buffer, and time would run out. */
        fflush(stdout);
    }
    return 0;
}
