// A first bot for Torres: it plays any legal action, but never ends a turn early.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: write your log to std::cerr.
// Everything about the messages is in docs/protocol.md.
//
// The bot reads only the list of legal actions, so that it needs no JSON library. To read
// the state of the board, add one: every .cpp file beside this one is compiled, too.
#include <iostream>
#include <random>
#include <string>
#include <vector>

using Random = std::mt19937_64;

// Return what stands between the text `from` and the next `to`; empty if it is missing.
std::string between(const std::string& line, const std::string& from, char to) {
    const auto start = line.find(from);
    if (start == std::string::npos) return "";
    const auto begin = start + from.size();
    return line.substr(begin, line.find(to, begin) - begin);
}

// All randomness comes from the seed in "hello", so that a game can be repeated.
Random sow(const std::string& hello) {
    const auto text = between(hello, "\"seed\":\"", '"');
    std::seed_seq seed(text.begin(), text.end());
    return Random(seed);
}

// Return the legal actions of a message. They have no quotes and no brackets.
std::vector<std::string> read_legal(const std::string& line) {
    const auto list = between(line, "\"legal\":[", ']');
    std::vector<std::string> legal;
    for (auto open = list.find('"'); open != std::string::npos;) {
        const auto close = list.find('"', open + 1);
        legal.push_back(list.substr(open + 1, close - open - 1));
        open = list.find('"', close + 1);
    }
    return legal;
}

// Return your action. This is the place for your ideas.
//
// Actions have words, as in "move b3 b4" or "block c4".
std::string choose(const std::vector<std::string>& legal, Random& random) {
    std::vector<std::string> going_on;
    for (const auto& action : legal)
        if (!action.starts_with("end")) going_on.push_back(action);
    const auto& actions = going_on.empty() ? legal : going_on;
    return actions[random() % actions.size()];
}

// Speak the protocol: hello, decide, decide, ..., end. After "end" the referee closes
// stdin: then this loop ends, and so does the bot.
int main() {
    Random random;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.find("\"type\":\"hello\"") != std::string::npos) {
            random = sow(line);
            // std::endl also flushes: otherwise the answer would stay in a buffer.
            std::cout << "{\"type\":\"ready\"}" << std::endl;
        } else if (line.find("\"type\":\"decide\"") != std::string::npos) {
            // An answer may hold a whole turn: {"actions":["move b3 b4","end"]}.
            const auto legal = read_legal(line);
            std::cout << "{\"actions\":[\"" << choose(legal, random) << "\"]}" << std::endl;
        }
    }
    return 0;
}
