// The README has the command that runs this test. It includes the bot, because a bot is
// a program and no library.
#include <cassert>
#define main bot_main
#include "../bot.cpp"
#undef main

int main() {
    const auto legal =
        read_legal("{\"type\":\"decide\",\"legal\":[\"block c4\",\"buy\",\"end\"]}");
    assert((legal == std::vector<std::string>{"block c4", "buy", "end"}));
    Random random;
    for (int i = 0; i < 50; i++) assert(choose(legal, random) != "end");

    const std::vector<std::string> last{"end 3,2", "end 3,3"};
    assert(choose(last, random).starts_with("end 3,"));

    // The same seed gives the same game.
    assert(sow("{\"seed\":\"9f\"}")() == sow("{\"seed\":\"9f\"}")());
    assert(sow("{\"seed\":\"9f\"}")() != sow("{\"seed\":\"9e\"}")());
    std::cout << "all tests passed" << std::endl;
}
