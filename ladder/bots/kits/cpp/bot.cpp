// A first bot for Torres: it plays any legal action, all with the same probability.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: write your log to std::cerr.
// Everything about the messages is in docs/protocol.md.
//
// The bot counts the legal actions and answers with an index, so that it needs no JSON
// library. To read the state of the board, add one to your upload.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>

// Return what stands between the text `from` and the next `to`; empty if it is missing.
std::string between(const std::string& line, const std::string& from, char to) {
    const auto start = line.find(from);
    if (start == std::string::npos) return "";
    const auto begin = start + from.size();
    return line.substr(begin, line.find(to, begin) - begin);
}

int main() {
    std::mt19937_64 random;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.find("\"type\":\"hello\"") != std::string::npos) {
            // All randomness comes from this seed, so that a game can be repeated.
            const auto text = between(line, "\"seed\":\"", '"');
            std::seed_seq seed(text.begin(), text.end());
            random.seed(seed);
            // std::endl also flushes: otherwise the answer would stay in a buffer.
            std::cout << "{\"type\":\"ready\"}" << std::endl;
        } else if (line.find("\"type\":\"decide\"") != std::string::npos) {
            // Your ideas go here. An answer may also name its actions, as in
            // {"actions":["move b3 b4","end"]}.
            const auto legal = between(line, "\"legal\":[", ']');
            // Each action is a string between two quotes, and has none of its own.
            const auto actions = std::count(legal.begin(), legal.end(), '"') / 2;
            std::cout << "{\"index\":" << random() % actions << "}" << std::endl;
        }
    }
}
