/* A first bot: it plays any legal action, each as likely as the others.
 * It needs no JSON library: the strings of "legal" hold no quotes of their own. */
#include <stdio.h>
#include <string.h>

static char line[1 << 17];
static unsigned long long seed = 88172645463325252ULL;

static unsigned below(unsigned bound) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 11) % bound;
}

static unsigned count_legal(const char *list) {
    unsigned quotes = 0;
    for (; *list && *list != ']'; list++)
        quotes += *list == '"';
    return quotes / 2;
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) {
            const char *text = strstr(line, "\"seed\":\"");
            for (text = text ? text + 8 : ""; *text && *text != '"'; text++)
                seed = seed * 31 + (unsigned char)*text;
            seed |= 1;
            puts("{\"type\":\"ready\"}");
        } else if (strstr(line, "\"type\":\"decide\"")) {
            const char *list = strstr(line, "\"legal\":[");
            unsigned legal = list ? count_legal(list + 9) : 1;
            printf("{\"index\":%u}\n", below(legal));
        }
        fflush(stdout);
    }
    return 0;
}
