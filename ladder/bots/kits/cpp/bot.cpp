// A first bot: it plays any legal action, each as likely as the others.
// It needs no JSON library: the strings of "legal" hold no quotes of their own.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>

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
            const auto text = between(line, "\"seed\":\"", '"');
            std::seed_seq seed(text.begin(), text.end());
            random.seed(seed);
            std::cout << "{\"type\":\"ready\"}" << std::endl;
        } else if (line.find("\"type\":\"decide\"") != std::string::npos) {
            const auto legal = between(line, "\"legal\":[", ']');
            const auto actions = std::count(legal.begin(), legal.end(), '"') / 2;
            std::cout << "{\"index\":" << random() % actions << "}" << std::endl;
        }
    }
}
