// The README has the command that runs this test.
import java.util.List;
import java.util.Random;

class BotTest {
    public static void main(String[] arguments) {
        List<String> legal =
            bot.readLegal("{\"type\":\"decide\",\"legal\":[\"block c4\",\"buy\",\"end\"]}");
        check(legal.equals(List.of("block c4", "buy", "end")));

        Random random = bot.sow("{\"seed\":\"9f\"}");
        for (int i = 0; i < 50; i++) check(!bot.choose(legal, random).equals("end"));
        check(bot.choose(List.of("end 3,2", "end 3,3"), random).startsWith("end 3,"));

        // The same seed gives the same game.
        int first = bot.sow("{\"seed\":\"9f\"}").nextInt();
        check(first == bot.sow("{\"seed\":\"9f\"}").nextInt());
        System.out.println("all tests passed");
    }

    static void check(boolean holds) {
        if (!holds) throw new AssertionError();
    }
}
